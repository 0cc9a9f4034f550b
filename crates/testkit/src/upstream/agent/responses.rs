//! A client of Responses that sends the whole history with each request (`store: false`).

use serde_json::{Value, json};

use super::client::{
    ClientAgent, DESCRIPTION, ReplyContent, ReplyTrouble, RequestedCall, command, in_stream,
    kept_id, schema,
};
use crate::upstream::request_parts::array;

/// The path and the headers of a request.
pub(super) fn target() -> (String, Vec<(String, String)>) {
    let key = ("authorization".to_owned(), "Bearer test-key".to_owned());
    ("/v1/responses".to_owned(), vec![key])
}

pub(super) fn user(agent: &ClientAgent, text: &str) -> Value {
    if agent.habits.part_lists {
        return json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": text}]});
    }
    json!({"role": "user", "content": text})
}

pub(super) fn body(agent: &ClientAgent, history: &[Value], ephemeral: Option<String>) -> Value {
    let mut input = history.to_vec();
    input.extend(ephemeral.map(|text| user(agent, &text)));
    let mut body = json!({"model": agent.model, "instructions": agent.system, "input": input,
        "store": false, "max_output_tokens": agent.max_tokens});
    if agent.thinking {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if !agent.habits.toolless {
        body["tools"] = json!([{"type": "function", "name": agent.tool, "description": DESCRIPTION,
            "parameters": schema(), "strict": false}]);
    }
    if agent.stream {
        body["stream"] = json!(true);
    }
    body
}

/// Reads a whole reply: its text, its calls, and the items for the history.
pub(super) fn reply_content(agent: &ClientAgent, whole: &Value) -> ReplyContent {
    let mut content = ReplyContent { usage: whole["usage"].clone(), ..ReplyContent::default() };
    for item in array(&whole["output"]) {
        let mut item = item.clone();
        match item["type"].as_str() {
            Some("message") => {
                for part in array(&item["content"]) {
                    content.text.push_str(part["text"].as_str().unwrap_or_default());
                }
            }
            Some("function_call") => {
                let id = kept_id(agent, &item["call_id"]);
                item["call_id"] = json!(id);
                content.calls.push(RequestedCall {
                    id,
                    name: item["name"].as_str().unwrap_or_default().to_owned(),
                    command: command(&item["arguments"]),
                });
            }
            _ => {}
        }
        if agent.habits.bare_items
            && let Some(item) = item.as_object_mut()
        {
            item.remove("id");
            item.remove("status");
        }
        content.history.push(item);
    }
    content
}

pub(super) fn results(agent: &ClientAgent, outputs: Vec<(RequestedCall, String)>) -> Vec<Value> {
    let results = outputs.into_iter().map(|(call, output)| {
        let output = if agent.habits.part_lists {
            json!([{"type": "input_text", "text": output}])
        } else {
            json!(output)
        };
        json!({"type": "function_call_output", "call_id": call.id, "output": output})
    });
    results.collect()
}

/// Joins the events of a stream into the whole reply: the finished items and the data of the last event.
pub(super) fn joined(events: &[(String, Value)]) -> Result<Value, ReplyTrouble> {
    let mut items = Vec::new();
    for (at, (name, event)) in events.iter().enumerate() {
        if event["sequence_number"] != json!(at) && event["type"] != "error" {
            return Err(ReplyTrouble::Broken(format!("event {at} has another number: {event}")));
        }
        if event["type"] != json!(name) {
            return Err(ReplyTrouble::Broken(format!(
                "an event `{name}` is of another type: {event}"
            )));
        }
        match name.as_str() {
            "error" | "response.failed" => return Err(in_stream(event)),
            "response.output_item.done" => {
                if event["output_index"] != json!(items.len()) {
                    return Err(ReplyTrouble::Broken(format!("an item out of order: {event}")));
                }
                items.push(event["item"].clone());
            }
            "response.completed" | "response.incomplete" => {
                let mut whole = event["response"].clone();
                whole["output"] = Value::Array(items);
                return Ok(whole);
            }
            _ => {}
        }
    }
    Err(ReplyTrouble::Broken("the stream has no end".to_owned()))
}
