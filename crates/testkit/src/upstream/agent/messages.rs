//! The client of Anthropic Messages.

use serde_json::{Value, json};

use super::client::{
    ClientAgent, DESCRIPTION, ReplyContent, ReplyTrouble, RequestedCall, command, in_stream,
    kept_id, schema,
};

/// The tokens that the model may think with.
const BUDGET: u64 = 1_024;

pub(super) fn target() -> (String, Vec<(String, String)>) {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![header("x-api-key", "test-key"), header("anthropic-version", "2023-06-01")];
    ("/v1/messages".to_owned(), headers)
}

pub(super) fn user(agent: &ClientAgent, text: &str) -> Value {
    // A cache mark needs a block to be in, so the text has to be one.
    if agent.habits.unmarked && !agent.habits.part_lists {
        return json!({"role": "user", "content": text});
    }
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

pub(super) fn body(agent: &ClientAgent, history: &[Value], ephemeral: Option<String>) -> Value {
    let mut messages = history.to_vec();
    let marks = !agent.habits.unmarked;
    let mark = json!({"type": "ephemeral"});
    if let Some(last) = messages.last_mut().filter(|_| marks)
        && let Some(block) = last["content"].as_array_mut().and_then(|blocks| blocks.last_mut())
    {
        block["cache_control"] = mark.clone();
    }
    if let Some(text) = ephemeral
        && let Some(last) = messages.last_mut()
    {
        let block = json!({"type": "text", "text": text});
        match last["content"].as_array_mut() {
            Some(blocks) => blocks.push(block),
            None => last["content"] = json!([{"type": "text", "text": last["content"]}, block]),
        }
    }
    let mut body =
        json!({"model": agent.model, "messages": messages, "max_tokens": agent.max_tokens});
    body["system"] = json!(agent.system);
    if marks {
        body["system"] = json!([{"type": "text", "text": agent.system, "cache_control": mark}]);
    }
    if agent.thinking {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": BUDGET});
        body["max_tokens"] = json!(agent.max_tokens + BUDGET);
    }
    if !agent.habits.toolless {
        body["tools"] = json!([{"name": agent.tool, "description": DESCRIPTION,
            "input_schema": schema()}]);
    }
    if agent.habits.keeps_thinking {
        let edit = json!({"type": "clear_thinking_20251015", "keep": "all"});
        body["context_management"] = json!({"edits": [edit]});
    }
    if agent.stream {
        body["stream"] = json!(true);
    }
    body
}

pub(super) fn reply_content(agent: &ClientAgent, whole: &Value) -> ReplyContent {
    let mut content = ReplyContent { usage: whole["usage"].clone(), ..ReplyContent::default() };
    let mut blocks = whole["content"].clone();
    for block in blocks.as_array_mut().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => content.text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => {
                let id = kept_id(agent, &block["id"]);
                block["id"] = json!(id);
                content.calls.push(RequestedCall {
                    id,
                    name: block["name"].as_str().unwrap_or_default().to_owned(),
                    command: command(&block["input"]),
                });
            }
            _ => {}
        }
    }
    content.history.push(json!({"role": "assistant", "content": blocks}));
    content
}

pub(super) fn results(agent: &ClientAgent, outputs: Vec<(RequestedCall, String)>) -> Vec<Value> {
    let blocks = outputs.into_iter().map(|(call, output)| {
        let content = if agent.habits.part_lists {
            json!([{"type": "text", "text": output}])
        } else {
            json!(output)
        };
        json!({"type": "tool_result", "tool_use_id": call.id, "content": content})
    });
    vec![json!({"role": "user", "content": blocks.collect::<Vec<_>>()})]
}

/// Joins the events of a stream into the whole reply.
pub(super) fn joined(events: &[(String, Value)]) -> Result<Value, ReplyTrouble> {
    let mut whole = Value::Null;
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    for (name, event) in events {
        if event["type"] != json!(name) {
            return Err(ReplyTrouble::Broken(format!(
                "an event `{name}` is of another type: {event}"
            )));
        }
        match name.as_str() {
            "error" => return Err(in_stream(event)),
            "message_start" => whole = event["message"].clone(),
            "content_block_start" => {
                if event["index"] != json!(blocks.len()) {
                    return Err(ReplyTrouble::Broken(format!("a block out of order: {event}")));
                }
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => delta(&event["delta"], &mut blocks, &mut inputs)?,
            "message_delta" => {
                whole["stop_reason"] = event["delta"]["stop_reason"].clone();
                // Its counts replace those of the start, also the prompt's where it has them.
                for (name, count) in event["usage"].as_object().into_iter().flatten() {
                    whole["usage"][name] = count.clone();
                }
            }
            "message_stop" => {
                for (block, input) in blocks.iter_mut().zip(&inputs) {
                    // A call without deltas keeps the input of its start.
                    if block["type"] == "tool_use" && !input.is_empty() {
                        block["input"] = serde_json::from_str(input)
                            .map_err(|error| ReplyTrouble::Broken(format!("{error}: {input}")))?;
                    }
                }
                whole["content"] = Value::Array(blocks);
                return Ok(whole);
            }
            _ => {}
        }
    }
    Err(ReplyTrouble::Broken("the stream has no end".to_owned()))
}

fn delta(delta: &Value, blocks: &mut [Value], inputs: &mut [String]) -> Result<(), ReplyTrouble> {
    let (Some(block), Some(input)) = (blocks.last_mut(), inputs.last_mut()) else {
        return Err(ReplyTrouble::Broken(format!("a delta without its block: {delta}")));
    };
    for field in ["text", "thinking", "signature"] {
        if let Some(more) = delta[field].as_str() {
            let before = block[field].as_str().unwrap_or_default().to_owned();
            block[field] = json!(format!("{before}{more}"));
        }
    }
    input.push_str(delta["partial_json"].as_str().unwrap_or_default());
    Ok(())
}
