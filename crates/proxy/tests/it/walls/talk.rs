//! One conversation of a client, with the bytes of each of its messages.

use bytes::Bytes;
use midfold::DialectKind;
use midfold::formats::request::{Request, list_name};
use midfold_proxy::RequestSender;
use serde_json::{Value, json};

/// A call in an answer.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    /// JSON, as its writer spells it.
    pub arguments: String,
    pub id: String,
}

impl Call {
    pub fn is_hidden(&self) -> bool {
        self.name.starts_with("midfold_")
    }
}

/// A conversation.
#[derive(Clone)]
pub struct Talk {
    pub name: u64,
    /// The conversations that it has its history from, and itself.
    pub lineage: Vec<u64>,
    pub kind: DialectKind,
    pub who: RequestSender,
    pub system: String,
    pub messages: Vec<String>,
}

impl Talk {
    /// The request. Its instructions have a clock.
    pub fn request(&self, time: u64) -> Request {
        let kind = self.kind;
        let system = json!(format!("You work for {}. It is {time}.", self.system));
        let parameters = json!({"type": "object"});
        let function = json!({"name": "bash", "parameters": parameters});
        let message = format!(r#"{{"role":"system","content":{system}}}"#);
        let (beside, first, tools) = match kind {
            DialectKind::Gemini => (
                format!(r#""systemInstruction":{{"parts":[{{"text":{system}}}]}},"#),
                None,
                json!([{"functionDeclarations": [function]}]),
            ),
            DialectKind::Anthropic => (
                format!(r#""system":{system},"#),
                None,
                json!([{"name": "bash", "input_schema": parameters}]),
            ),
            DialectKind::OpenAiResponses => (
                format!(r#""instructions":{system},"#),
                None,
                json!([{"type": "function", "name": "bash", "parameters": parameters}]),
            ),
            _ => {
                (String::new(), Some(message), json!([{"type": "function", "function": function}]))
            }
        };
        let list: Vec<&str> = first.iter().chain(&self.messages).map(String::as_str).collect();
        let (name, list) = (list_name(kind), list.join(","));
        let body =
            format!(r#"{{"model":"m","stream":false,{beside}"tools":{tools},"{name}":[{list}]}}"#);
        Request::read(kind, Bytes::from(body)).unwrap_or_else(|error| unreachable!("{error}"))
    }
}

pub fn user(kind: DialectKind, text: &str) -> String {
    match kind {
        DialectKind::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        _ => json!({"role": "user", "content": text}),
    }
    .to_string()
}

/// An answer as messages: of the model as it gave it, or as its client keeps it (without what is hidden).
pub fn reply(kind: DialectKind, text: &str, calls: &[Call]) -> Vec<String> {
    let words = json!(text);
    let called: Vec<String> = calls.iter().map(|call| called(kind, call)).collect();
    let calls = called.join(",");
    let has_calls = !called.is_empty();
    match kind {
        DialectKind::OpenAiResponses => {
            let message = json!({"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": text}]});
            let message = (!text.is_empty()).then(|| message.to_string());
            message.into_iter().chain(called).collect()
        }
        DialectKind::Anthropic | DialectKind::Gemini => {
            let part = match kind {
                DialectKind::Gemini => json!({"text": text}),
                _ => json!({"type": "text", "text": text}),
            };
            let part = if text.is_empty() { String::new() } else { part.to_string() };
            let comma = if has_calls && !text.is_empty() { "," } else { "" };
            let (role, list) = match kind {
                DialectKind::Gemini => ("model", "parts"),
                _ => ("assistant", "content"),
            };
            vec![format!(r#"{{"role":"{role}","{list}":[{part}{comma}{calls}]}}"#)]
        }
        _ if has_calls => {
            vec![format!(r#"{{"role":"assistant","content":{words},"tool_calls":[{calls}]}}"#)]
        }
        _ => vec![format!(r#"{{"role":"assistant","content":{words}}}"#)],
    }
}

fn called(kind: DialectKind, call: &Call) -> String {
    let Call { name, arguments, id } = call;
    let quoted = json!(arguments);
    match kind {
        DialectKind::OpenAiResponses => format!(
            r#"{{"type":"function_call","call_id":"{id}","name":"{name}","arguments":{quoted}}}"#
        ),
        DialectKind::Anthropic => {
            format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{arguments}}}"#)
        }
        DialectKind::Gemini => {
            format!(r#"{{"functionCall":{{"name":"{name}","args":{arguments}}}}}"#)
        }
        DialectKind::Ollama => {
            format!(r#"{{"function":{{"name":"{name}","arguments":{arguments}}}}}"#)
        }
        _ => format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{quoted}}}}}"#
        ),
    }
}

pub fn result(kind: DialectKind, call: &Call, text: &str) -> String {
    let Call { name, id, .. } = call;
    match kind {
        DialectKind::OpenAiResponses => {
            json!({"type": "function_call_output", "call_id": id, "output": text})
        }
        DialectKind::Anthropic => json!({"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": id, "content": text}]}),
        DialectKind::Gemini => json!({"role": "user", "parts":
            [{"functionResponse": {"name": name, "response": {"output": text}}}]}),
        DialectKind::Ollama => json!({"role": "tool", "tool_name": name, "content": text}),
        _ => json!({"role": "tool", "tool_call_id": id, "content": text}),
    }
    .to_string()
}

/// The messages of a request without the hidden exchanges, as values. Results of hidden calls name `hidden` ids, or the
/// tool where the format has no ids.
pub fn without_hidden(kind: DialectKind, messages: &[Value], hidden: &[String]) -> Vec<Value> {
    let is_tool = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("midfold_"));
    let is_result = |id: &Value| id.as_str().is_some_and(|id| hidden.iter().any(|it| it == id));
    let keeps = |part: &Value| {
        let calls = [&part["name"], &part["function"]["name"], &part["functionCall"]["name"]];
        let is_ours = calls.into_iter().any(is_tool)
            || is_tool(&part["functionResponse"]["name"])
            || is_tool(&part["tool_name"])
            || [&part["tool_use_id"], &part["tool_call_id"]].into_iter().any(is_result)
            || part["type"] == "function_call_output" && is_result(&part["call_id"]);
        !is_ours
    };
    let mut out = Vec::new();
    for message in messages.iter().filter(|message| keeps(message)) {
        let mut message = message.clone();
        let mut is_bare = false;
        for list in ["tool_calls", "content", "parts"] {
            if let Some(parts) = message[list].as_array_mut() {
                let before = parts.len();
                parts.retain(&keeps);
                is_bare |= parts.is_empty() && before > 0;
                if parts.is_empty() && list == "tool_calls" {
                    message.as_object_mut().map(|fields| fields.remove(list));
                }
            } else if let Some(fields) = message.as_object_mut()
                && fields.get(list).is_some_and(Value::is_null)
            {
                fields.remove(list);
            }
        }
        let has_words = message["content"].as_str().is_some_and(|text| !text.is_empty());
        // A message of nothing but hidden parts is the model's alone.
        if !is_bare || has_words || kind == DialectKind::OpenAiResponses {
            out.push(message);
        }
    }
    out
}
