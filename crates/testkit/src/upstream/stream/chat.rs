//! Replies of Chat Completions.

use serde_json::{Value, json};

use super::numbered_reply::{CREATED, NumberedReply, data, pieces};

fn finish(made: &NumberedReply<'_>) -> &'static str {
    if made.cut {
        "length"
    } else if made.reply.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn usage(made: &NumberedReply<'_>) -> Value {
    json!({
        "prompt_tokens": made.prompt, "completion_tokens": made.output,
        "total_tokens": made.prompt + made.output,
        "prompt_tokens_details": {"cached_tokens": made.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

/// The calls of a message. The input of a custom tool is a plain string, not JSON.
fn calls(made: &NumberedReply<'_>) -> Vec<Value> {
    let calls = made.reply.calls.iter().enumerate();
    calls
        .map(|(index, call)| {
            let id = format!("call_{}_{index}", made.seed);
            if call.custom {
                return json!({"id": id, "type": "custom",
                    "custom": {"name": call.name, "input": call.arguments}});
            }
            json!({"id": id, "type": "function",
                "function": {"name": call.name, "arguments": call.arguments.to_string()}})
        })
        .collect()
}

pub(crate) fn whole(made: &NumberedReply<'_>) -> Value {
    let mut message = json!({"role": "assistant", "refusal": null});
    let calls = calls(made);
    message["content"] =
        if made.text.is_empty() && !calls.is_empty() { Value::Null } else { json!(made.text) };
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if let Some(thinking) = made.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    json!({
        "id": format!("chatcmpl-{}", made.seed), "object": "chat.completion", "created": CREATED,
        "model": made.asked.model, "system_fingerprint": "fp_scripted",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(made)}],
        "usage": usage(made),
    })
}

pub(crate) fn events(made: &NumberedReply<'_>) -> Vec<String> {
    let wants_usage = made.asked.body["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", made.seed), "object": "chat.completion.chunk",
            "created": CREATED, "model": made.asked.model, "system_fingerprint": "fp_scripted",
            "choices": choices,
        });
        if wants_usage {
            chunk["usage"] = usage;
        }
        data(&chunk)
    };
    let delta = |delta: Value| {
        let choice = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]);
        chunk(choice, Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": "", "refusal": null}))];
    for piece in made.thinking.map(pieces).unwrap_or_default() {
        events.push(delta(json!({"reasoning_content": piece})));
    }
    events.extend(pieces(&made.text).into_iter().map(|piece| delta(json!({"content": piece}))));
    for (index, call) in calls(made).into_iter().enumerate() {
        let kind = if call["type"] == "custom" { "custom" } else { "function" };
        let field = if kind == "custom" { "input" } else { "arguments" };
        let mut first = call.clone();
        first["index"] = json!(index);
        first[kind][field] = json!("");
        events.push(delta(json!({"tool_calls": [first]})));
        for piece in pieces(call[kind][field].as_str().unwrap_or_default()) {
            events.push(delta(json!({"tool_calls": [{"index": index, kind: {field: piece}}]})));
        }
    }
    let last = json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": finish(made)}]);
    events.push(chunk(last, Value::Null));
    if wants_usage {
        events.push(chunk(json!([]), usage(made)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}
