//! The same conversation in the dialect of Ollama.

use crate::message::{TestCall, TestMessage, quoted};

/// Messages of `/api/chat`. Calls and results have no ids; they are paired by name and order.
#[must_use]
pub fn ollama(messages: &[TestMessage]) -> Vec<String> {
    messages.iter().map(message).collect()
}

fn message(message: &TestMessage) -> String {
    match message {
        TestMessage::System(text) => format!(r#"{{"role":"system","content":{}}}"#, quoted(text)),
        TestMessage::User(text) => format!(r#"{{"role":"user","content":{}}}"#, quoted(text)),
        TestMessage::Tool { name, content, .. } => format!(
            r#"{{"role":"tool","tool_name":{},"content":{}}}"#,
            quoted(name),
            quoted(content)
        ),
        TestMessage::Assistant { thought, text, calls } => {
            let thought = thought
                .as_ref()
                .map_or(String::new(), |text| format!(r#","thinking":{}"#, quoted(text)));
            let calls: Vec<_> = calls.iter().map(call).collect();
            let calls = match calls.len() {
                0 => String::new(),
                _ => format!(r#","tool_calls":[{}]"#, calls.join(",")),
            };
            format!(r#"{{"role":"assistant","content":{}{thought}{calls}}}"#, quoted(text))
        }
    }
}

fn call(call: &TestCall) -> String {
    format!(r#"{{"function":{{"name":{},"arguments":{}}}}}"#, quoted(&call.name), call.arguments)
}

/// A request to `/api/chat`.
#[must_use]
pub fn ollama_request(messages: &[TestMessage]) -> String {
    let messages = ollama(messages).join(",");
    format!(
        r#"{{"model":"qwen3:8b","messages":[{messages}],"options":{{"num_ctx":8192}},"stream":false}}"#
    )
}
