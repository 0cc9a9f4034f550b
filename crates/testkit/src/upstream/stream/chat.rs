//! Replies of Chat Completions.

use serde_json::{Value, json};

use super::numbered_reply::{CREATED, NumberedReply, data, pieces};

fn finish(numbered: &NumberedReply<'_>) -> &'static str {
    if numbered.cut {
        "length"
    } else if numbered.reply.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn usage(numbered: &NumberedReply<'_>) -> Value {
    json!({
        "prompt_tokens": numbered.prompt, "completion_tokens": numbered.output,
        "total_tokens": numbered.prompt + numbered.output,
        "prompt_tokens_details": {"cached_tokens": numbered.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

/// The calls of a message. The input of a custom tool is a plain string, not JSON.
fn calls(numbered: &NumberedReply<'_>) -> Vec<Value> {
    let calls = numbered.reply.calls.iter().enumerate();
    calls
        .map(|(index, call)| {
            let id = format!("call_{}_{index}", numbered.seed);
            if call.custom {
                return json!({"id": id, "type": "custom",
                    "custom": {"name": call.name, "input": call.arguments}});
            }
            json!({"id": id, "type": "function",
                "function": {"name": call.name, "arguments": call.arguments.to_string()}})
        })
        .collect()
}

pub(crate) fn whole(numbered: &NumberedReply<'_>) -> Value {
    let mut message = json!({"role": "assistant", "refusal": null});
    let calls = calls(numbered);
    message["content"] = if numbered.text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        json!(numbered.text)
    };
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if let Some(thinking) = numbered.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    json!({
        "id": format!("chatcmpl-{}", numbered.seed), "object": "chat.completion", "created": CREATED,
        "model": numbered.request.model, "system_fingerprint": "fp_scripted",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(numbered)}],
        "usage": usage(numbered),
    })
}

pub(crate) fn events(numbered: &NumberedReply<'_>) -> Vec<String> {
    let wants_usage = numbered.request.body["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", numbered.seed), "object": "chat.completion.chunk",
            "created": CREATED, "model": numbered.request.model, "system_fingerprint": "fp_scripted",
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
    for piece in numbered.thinking.map(pieces).unwrap_or_default() {
        events.push(delta(json!({"reasoning_content": piece})));
    }
    events.extend(pieces(&numbered.text).into_iter().map(|piece| delta(json!({"content": piece}))));
    for (index, call) in calls(numbered).into_iter().enumerate() {
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
    let last =
        json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": finish(numbered)}]);
    events.push(chunk(last, Value::Null));
    if wants_usage {
        events.push(chunk(json!([]), usage(numbered)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}
