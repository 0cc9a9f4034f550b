//! What tests of the vendors' compaction share.

use midfold_proxy::SealKey;
use midfold_serve::ServeConfig;
use midfold_testkit::emit;
use midfold_testkit::upstream::agent::{AgentExchange, ClientAgent};
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect};
use serde_json::{Value, json};

use crate::setting::{Setting, rules};

/// A proxy with these keys, in front of a model that answers with one sentence.
pub async fn setting(keys: &[u8]) -> Setting {
    with(keys, |_| {}).await
}

pub async fn with(keys: &[u8], change: impl FnOnce(&mut ServeConfig)) -> Setting {
    let keys = keys.iter().map(|byte| SealKey::new([*byte; 32])).collect();
    let settings = UpstreamSettings {
        script: UpstreamScript::fixed("fine"),
        stateful: true,
        ..UpstreamSettings::default()
    };
    Setting::with(settings, |config| {
        config.rules = rules().window(200_000);
        config.seal = Some(keys);
        change(config);
    })
    .await
}

/// Sends a body, and reads the answer.
pub async fn post(setting: &Setting, path: &str, body: &Value) -> (AgentExchange, Value) {
    let agent = ClientAgent::new(dialect(path), &setting.url());
    let got = agent.post(path, &body.to_string()).await;
    let value = serde_json::from_slice(&got.body).unwrap_or(Value::Null);
    (got, value)
}

fn dialect(path: &str) -> WireDialect {
    if path.contains("messages") { WireDialect::Messages } else { WireDialect::Responses }
}

/// The events of a stream, as their data.
pub fn events(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// A long session as items, ending with a question.
pub fn items() -> Vec<Value> {
    let session = midfold_testkit::session(11, 8);
    let mut items: Vec<Value> =
        emit::responses(&session).iter().map(|item| serde_json::from_str(item).unwrap()).collect();
    items.push(json!({"role": "user", "content": "What is left to do?"}));
    items
}

/// A long session as messages, ending with a question.
pub fn messages() -> Vec<Value> {
    let session = midfold_testkit::session(11, 8);
    let (_, messages) = emit::anthropic(&session);
    let mut messages: Vec<Value> =
        messages.iter().map(|item| serde_json::from_str(item).unwrap()).collect();
    // Thinking is signed by whoever thought: the scripted model knows none of it.
    for message in &mut messages {
        if let Some(blocks) = message["content"].as_array_mut() {
            blocks.retain(|block| {
                block["type"] != "thinking" && block["type"] != "redacted_thinking"
            });
        }
    }
    messages.retain(|message| message["content"] != json!([]));
    if messages.last().is_some_and(|last| last["role"] == "user") {
        messages.push(json!({"role": "assistant", "content": "Done so far."}));
    }
    messages.push(json!({"role": "user", "content": "What is left to do?"}));
    messages
}

/// What the provider got last.
pub fn sent(setting: &Setting) -> Value {
    serde_json::from_slice(&setting.upstream.requests().pop().unwrap().body).unwrap()
}

/// How many requests the provider got.
pub fn asked(setting: &Setting) -> usize {
    setting.upstream.requests().len()
}

/// One prompt begins with all of another.
pub fn extends(longer: &Value, shorter: &Value) -> bool {
    longer.as_array().unwrap().starts_with(shorter.as_array().unwrap())
}

/// The same text with one character of its middle changed.
pub fn tampered(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = bytes.len() / 2;
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}
