//! Replies of Responses.

use serde_json::{Value, json};

use super::numbered_reply::{CREATED, NumberedReply, named, pieces};
use crate::upstream::errors::BrokenRule;
use crate::upstream::request_parts::fnv;

/// The encrypted content of the reasoning item with this id.
pub(crate) fn sealed(id: &str) -> String {
    format!("gAAAAscripted{:016x}", fnv(id.as_bytes()))
}

/// The id of the reasoning item that was made together with an item, which the item's id tells. `None` where there was
/// none.
pub(crate) fn reasoning_of(id: &str) -> Option<String> {
    let rest = id.strip_prefix("fc_r").or_else(|| id.strip_prefix("msg_r"))?;
    Some(format!("rs_{}", rest.split('_').next().unwrap_or(rest)))
}

/// The items of a reply in their final form.
pub(crate) fn output(numbered_reply: &NumberedReply<'_>) -> Vec<Value> {
    let seed = &numbered_reply.seed;
    let with = if numbered_reply.thinking.is_some() { "r" } else { "" };
    let mut items = Vec::new();
    if let Some(thinking) = numbered_reply.thinking {
        let id = format!("rs_{seed}");
        items.push(json!({"id": id, "type": "reasoning", "encrypted_content": sealed(&id),
            "summary": [{"type": "summary_text", "text": thinking}]}));
    }
    if !numbered_reply.text.is_empty() {
        let phase =
            if numbered_reply.reply.calls.is_empty() { "final_answer" } else { "commentary" };
        items.push(json!({"id": format!("msg_{with}{seed}"), "type": "message",
            "status": "completed", "role": "assistant", "phase": phase,
            "content": [{"type": "output_text", "text": numbered_reply.text, "annotations": [],
                "logprobs": []}]}));
    }
    for (index, call) in numbered_reply.reply.calls.iter().enumerate() {
        let call_id = format!("call_{seed}_{index}");
        items.push(if call.custom {
            json!({"id": format!("ctc_{seed}_{index}"), "type": "custom_tool_call",
                "status": "completed", "call_id": call_id, "name": call.name,
                "input": call.arguments})
        } else {
            json!({"id": format!("fc_{with}{seed}_{index}"), "type": "function_call",
                "status": "completed", "call_id": call_id, "name": call.name,
                "arguments": call.arguments.to_string()})
        });
    }
    items
}

fn usage(numbered_reply: &NumberedReply<'_>) -> Value {
    json!({
        "input_tokens": numbered_reply.prompt, "input_tokens_details": {"cached_tokens": numbered_reply.cached,
            "cache_write_tokens": 0},
        "output_tokens": numbered_reply.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": numbered_reply.prompt + numbered_reply.output,
    })
}

fn response(numbered_reply: &NumberedReply<'_>, status: &str, output: &[Value]) -> Value {
    let body = &numbered_reply.request.body;
    let or = |name: &str, value: Value| body.get(name).cloned().unwrap_or(value);
    let details =
        if status == "incomplete" { json!({"reason": "max_output_tokens"}) } else { Value::Null };
    json!({
        "id": id(numbered_reply), "object": "response", "created_at": CREATED, "status": status,
        "background": false, "error": null, "incomplete_details": details,
        "instructions": or("instructions", Value::Null), "metadata": or("metadata", json!({})),
        "max_output_tokens": or("max_output_tokens", Value::Null), "model": numbered_reply.request.model,
        "output": output, "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "previous_response_id": or("previous_response_id", Value::Null),
        "store": or("store", json!(true)), "temperature": 1.0, "top_p": 1.0,
        "tool_choice": or("tool_choice", json!("auto")), "tools": or("tools", json!([])),
        "truncation": "disabled", "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
        "text": {"format": {"type": "text"}}, "user": null,
        "usage": if status == "in_progress" { Value::Null } else { usage(numbered_reply) },
    })
}

/// The id of the response.
pub(crate) fn id(numbered_reply: &NumberedReply<'_>) -> String {
    format!("resp_{}", numbered_reply.seed)
}

fn status(numbered_reply: &NumberedReply<'_>) -> &'static str {
    if numbered_reply.cut { "incomplete" } else { "completed" }
}

pub(crate) fn whole(numbered_reply: &NumberedReply<'_>) -> Value {
    response(numbered_reply, status(numbered_reply), &output(numbered_reply))
}

pub(crate) fn events(numbered_reply: &NumberedReply<'_>) -> Vec<String> {
    let mut events = vec![
        json!({"type": "response.created", "response": response(numbered_reply, "in_progress", &[])}),
        json!({"type": "response.in_progress", "response": response(numbered_reply, "in_progress", &[])}),
    ];
    let output = output(numbered_reply);
    for (index, item) in output.iter().enumerate() {
        added(item, index, &mut events);
    }
    let last = response(numbered_reply, status(numbered_reply), &output);
    events.push(json!({"type": format!("response.{}", status(numbered_reply)), "response": last}));
    numbered(events)
}

fn numbered(events: Vec<Value>) -> Vec<String> {
    let events = events.into_iter().enumerate();
    events
        .map(|(number, mut event)| {
            event["sequence_number"] = json!(number);
            named(&event)
        })
        .collect()
}

/// Adds the events of one item.
fn added(item: &Value, index: usize, events: &mut Vec<Value>) {
    let part = |kind: &str, fields: Value| {
        let mut event = json!({"type": format!("response.{kind}"), "item_id": item["id"],
            "output_index": index});
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        event
    };
    let mut empty = item.clone();
    let parts = match item["type"].as_str().unwrap_or_default() {
        "message" => message_parts(item, &mut empty, part),
        "reasoning" => reasoning_parts(item, &mut empty, part),
        kind => call_parts(kind, item, &mut empty, part),
    };
    events
        .push(json!({"type": "response.output_item.added", "output_index": index, "item": empty}));
    events.extend(parts);
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
}

/// The events of a message between its first and its last; `empty` becomes the item that the first one has.
fn message_parts(
    item: &Value,
    empty: &mut Value,
    part: impl Fn(&str, Value) -> Value,
) -> Vec<Value> {
    (empty["status"], empty["content"]) = (json!("in_progress"), json!([]));
    let whole = &item["content"][0];
    let text = whole["text"].as_str().unwrap_or_default();
    let none = json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []});
    let mut events = vec![part("content_part.added", json!({"content_index": 0, "part": none}))];
    events.extend(pieces(text).into_iter().map(|piece| {
        let fields = json!({"content_index": 0, "delta": piece, "logprobs": []});
        part("output_text.delta", fields)
    }));
    let fields = json!({"content_index": 0, "text": text, "logprobs": []});
    events.push(part("output_text.done", fields));
    events.push(part("content_part.done", json!({"content_index": 0, "part": whole})));
    events
}

/// The same of reasoning.
fn reasoning_parts(
    item: &Value,
    empty: &mut Value,
    part: impl Fn(&str, Value) -> Value,
) -> Vec<Value> {
    empty["summary"] = json!([]);
    let whole = &item["summary"][0];
    let text = whole["text"].as_str().unwrap_or_default();
    let none = json!({"type": "summary_text", "text": ""});
    let fields = json!({"summary_index": 0, "part": none});
    let mut events = vec![part("reasoning_summary_part.added", fields)];
    events.extend(pieces(text).into_iter().map(|piece| {
        part("reasoning_summary_text.delta", json!({"summary_index": 0, "delta": piece}))
    }));
    events.push(part("reasoning_summary_text.done", json!({"summary_index": 0, "text": text})));
    events.push(part("reasoning_summary_part.done", json!({"summary_index": 0, "part": whole})));
    events
}

/// The same of a call.
fn call_parts(
    kind: &str,
    item: &Value,
    empty: &mut Value,
    part: impl Fn(&str, Value) -> Value,
) -> Vec<Value> {
    let (field, name) = match kind {
        "custom_tool_call" => ("input", "custom_tool_call_input"),
        _ => ("arguments", "function_call_arguments"),
    };
    (empty["status"], empty[field]) = (json!("in_progress"), json!(""));
    let text = item[field].as_str().unwrap_or_default();
    let delta = |piece| part(&format!("{name}.delta"), json!({"delta": piece}));
    let mut events: Vec<Value> = pieces(text).into_iter().map(delta).collect();
    let mut done_event = json!({field: text});
    if field == "arguments" {
        done_event["name"] = item["name"].clone();
    }
    events.push(part(&format!("{name}.done"), done_event));
    events
}

/// A stream that reports that the prompt does not fit.
pub(crate) fn refused(numbered_reply: &NumberedReply<'_>, broken: &BrokenRule) -> Vec<String> {
    let mut last = response(numbered_reply, "failed", &[]);
    last["error"] = json!({"code": broken.code, "message": broken.message});
    last["usage"] = Value::Null;
    numbered(vec![
        json!({"type": "response.created", "response": response(numbered_reply, "in_progress", &[])}),
        json!({"type": "response.in_progress", "response": response(numbered_reply, "in_progress", &[])}),
        json!({"type": "response.failed", "response": last}),
    ])
}
