//! The client of Chat Completions.

use serde_json::{Value, json};

use super::client::{
    ClientAgent, DESCRIPTION, ReplyContent, ReplyTrouble, RequestedCall, command, in_stream,
    kept_id, schema,
};
use crate::upstream::request_parts::array;

pub(super) fn target() -> (String, Vec<(String, String)>) {
    let key = ("authorization".to_owned(), "Bearer test-key".to_owned());
    ("/v1/chat/completions".to_owned(), vec![key])
}

fn content(agent: &ClientAgent, text: &str) -> Value {
    if agent.habits.part_lists { json!([{"type": "text", "text": text}]) } else { json!(text) }
}

pub(super) fn user(agent: &ClientAgent, text: &str) -> Value {
    json!({"role": "user", "content": content(agent, text)})
}

pub(super) fn body(agent: &ClientAgent, history: &[Value], ephemeral: Option<String>) -> Value {
    let mut messages = vec![json!({"role": "system", "content": content(agent, &agent.system)})];
    messages.extend_from_slice(history);
    messages.extend(ephemeral.map(|text| user(agent, &text)));
    let mut body =
        json!({"model": agent.model, "messages": messages, "max_tokens": agent.max_tokens});
    if !agent.habits.toolless {
        body["tools"] = json!([{"type": "function", "function": {"name": agent.tool,
            "description": DESCRIPTION, "parameters": schema()}}]);
    }
    if agent.stream {
        body["stream"] = json!(true);
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

pub(super) fn reply_content(agent: &ClientAgent, whole: &Value) -> ReplyContent {
    let mut message = whole["choices"][0]["message"].clone();
    let mut reply = ReplyContent { usage: whole["usage"].clone(), ..ReplyContent::default() };
    message["content"].as_str().unwrap_or_default().clone_into(&mut reply.text);
    if let Some(calls) = message["tool_calls"].as_array_mut() {
        for call in calls {
            let id = kept_id(agent, &call["id"]);
            call["id"] = json!(id);
            reply.calls.push(RequestedCall {
                id,
                name: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
                command: command(&call["function"]["arguments"]),
            });
        }
    }
    reply.history.push(message);
    reply
}

pub(super) fn results(agent: &ClientAgent, outputs: Vec<(RequestedCall, String)>) -> Vec<Value> {
    let results = outputs.into_iter().map(|(call, output)| {
        json!({"role": "tool", "tool_call_id": call.id, "content": content(agent, &output)})
    });
    results.collect()
}

/// Joins the events of a stream into the whole reply.
pub(super) fn joined(events: &[(String, Value)]) -> Result<Value, ReplyTrouble> {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls: Vec<Value> = Vec::new();
    let (mut finish, mut usage) = (Value::Null, Value::Null);
    for (_, event) in events {
        if event["error"].is_object() {
            return Err(in_stream(event));
        }
        if !event["usage"].is_null() {
            usage = event["usage"].clone();
        }
        let choice = &event["choices"][0];
        if !choice["finish_reason"].is_null() {
            finish = choice["finish_reason"].clone();
        }
        let delta = &choice["delta"];
        for field in ["content", "reasoning_content"] {
            if let Some(text) = delta[field].as_str().filter(|text| !text.is_empty()) {
                let before = message[field].as_str().unwrap_or_default();
                message[field] = json!(format!("{before}{text}"));
            }
        }
        for part in array(&delta["tool_calls"]) {
            let index = part["index"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
            if index == calls.len() {
                let mut call = part.clone();
                if let Some(call) = call.as_object_mut() {
                    call.remove("index");
                }
                calls.push(call);
            } else if let Some(call) = calls.get_mut(index) {
                let more = part["function"]["arguments"].as_str().unwrap_or_default();
                let before = call["function"]["arguments"].as_str().unwrap_or_default();
                call["function"]["arguments"] = json!(format!("{before}{more}"));
            }
        }
    }
    let is_done = events.last().is_some_and(|(_, event)| event == "[DONE]");
    if !is_done || finish.is_null() {
        return Err(ReplyTrouble::Broken("the stream has no end".to_owned()));
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    } else if message["content"].is_null() {
        message["content"] = json!("");
    }
    Ok(json!({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}))
}
