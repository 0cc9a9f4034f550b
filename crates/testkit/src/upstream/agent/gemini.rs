//! The client of Gemini.

use serde_json::{Value, json};

use super::client::{
    ClientAgent, DESCRIPTION, ReplyContent, ReplyTrouble, RequestedCall, command, in_stream, schema,
};
use crate::upstream::request_parts::array;

pub(super) fn target(agent: &ClientAgent) -> (String, Vec<(String, String)>) {
    let action = if agent.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let key = ("x-goog-api-key".to_owned(), "test-key".to_owned());
    (format!("/v1beta/models/{}:{action}", agent.model), vec![key])
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

pub(super) fn body(agent: &ClientAgent, history: &[Value], ephemeral: Option<String>) -> Value {
    let mut contents = history.to_vec();
    if let Some(text) = ephemeral
        && let Some(parts) = contents.last_mut().and_then(|last| last["parts"].as_array_mut())
    {
        parts.push(json!({"text": text}));
    }
    let mut body = json!({"contents": contents,
        "systemInstruction": {"parts": [{"text": agent.system}]},
        "generationConfig": {"maxOutputTokens": agent.max_tokens}});
    if agent.thinking {
        body["generationConfig"]["thinkingConfig"] = json!({"includeThoughts": true});
    }
    if !agent.habits.toolless {
        body["tools"] = json!([{"functionDeclarations": [{"name": agent.tool,
            "description": DESCRIPTION, "parametersJsonSchema": schema()}]}]);
    }
    body
}

pub(super) fn reply_content(whole: &Value) -> ReplyContent {
    let content = &whole["candidates"][0]["content"];
    let mut reply =
        ReplyContent { usage: whole["usageMetadata"].clone(), ..ReplyContent::default() };
    let mut message = content.clone();
    // Thoughts are only for reading: clients do not send them back.
    if let Some(parts) = message["parts"].as_array_mut() {
        parts.retain(|part| part["thought"] != true);
        for part in parts {
            reply.text.push_str(part["text"].as_str().unwrap_or_default());
            let call = &part["functionCall"];
            if call.is_object() {
                reply.calls.push(RequestedCall {
                    id: call["id"].as_str().unwrap_or_default().to_owned(),
                    name: call["name"].as_str().unwrap_or_default().to_owned(),
                    command: command(&call["args"]),
                });
            }
        }
    }
    reply.history.push(message);
    reply
}

pub(super) fn results(outputs: Vec<(RequestedCall, String)>) -> Vec<Value> {
    let parts = outputs.into_iter().map(|(call, output)| {
        json!({"functionResponse": {"id": call.id, "name": call.name, "response": {"output": output}}})
    });
    vec![json!({"role": "user", "parts": parts.collect::<Vec<_>>()})]
}

/// Joins the events of a stream into the whole reply. Neighbouring texts become one part, as clients keep them.
pub(super) fn joined(events: &[(String, Value)]) -> Result<Value, ReplyTrouble> {
    let mut parts: Vec<Value> = Vec::new();
    let mut last = Value::Null;
    for (_, event) in events {
        if event["error"].is_object() {
            return Err(in_stream(event));
        }
        for part in array(&event["candidates"][0]["content"]["parts"]) {
            let joins = |before: &&mut Value| {
                before["text"].is_string()
                    && part["text"].is_string()
                    && before["thought"] == part["thought"]
            };
            match parts.last_mut().filter(joins) {
                Some(before) => {
                    let text = before["text"].as_str().unwrap_or_default();
                    before["text"] =
                        json!(format!("{text}{}", part["text"].as_str().unwrap_or_default()));
                }
                None => parts.push(part.clone()),
            }
        }
        last = event.clone();
    }
    if last["candidates"][0]["finishReason"].is_null() {
        return Err(ReplyTrouble::Broken("the stream has no end".to_owned()));
    }
    last["candidates"][0]["content"] = json!({"role": "model", "parts": parts});
    Ok(last)
}
