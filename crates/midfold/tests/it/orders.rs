//! Whoever speaks when: of every short order of messages, a context is made that its provider takes.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::Role;
use midfold::core::project::project;
use midfold::formats::profile;
use midfold::{Counter, DialectKind, EventLog, PieceFate, ProviderProfile, RawEvent};

const LONGEST: usize = 5;

/// A message of each kind: system, user, assistant, a call, its result.
fn kinds(kind: DialectKind) -> [Bytes; 5] {
    let dialect = kind.dialect();
    let (system, call) = match kind {
        DialectKind::OpenAiChat => (
            r#"{"role":"system","content":"s"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{}"}}]}"#,
        ),
        DialectKind::Anthropic => (
            r#"{"role":"system","content":"s"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"run","input":{}}]}"#,
        ),
        DialectKind::Gemini => (
            r#"{"role":"system","parts":[{"text":"s"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"run","args":{}}}]}"#,
        ),
        DialectKind::Bedrock => (
            r#"{"role":"system","content":[{"text":"s"}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"run","input":{}}}]}"#,
        ),
        DialectKind::Ollama => (
            r#"{"role":"system","content":"s"}"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"run","arguments":{}}}]}"#,
        ),
        DialectKind::OpenAiResponses => (
            r#"{"role":"system","content":"s"}"#,
            r#"{"type":"function_call","call_id":"c","name":"run","arguments":"{}"}"#,
        ),
        DialectKind::ShareGpt => (
            r#"{"from":"system","value":"s"}"#,
            r#"{"from":"gpt","value":"<tool_call>\n{\"name\": \"run\", \"arguments\": {}}\n</tool_call>"}"#,
        ),
    };
    [
        Bytes::from_static(system.as_bytes()),
        dialect.made_message(Role::User, "u"),
        dialect.made_message(Role::Assistant, "a"),
        Bytes::from_static(call.as_bytes()),
        dialect.made_result(b"", "c", "run", "r"),
    ]
}

fn check(
    kind: DialectKind,
    profile: ProviderProfile,
    counter: &Arc<dyn Counter>,
    messages: &[&Bytes],
) {
    let events = messages.iter().map(|bytes| RawEvent::new((*bytes).clone()));
    let log = EventLog::of(kind.shared(), profile, counter.clone(), events);
    let context = project(&log, None);
    let pieces: Vec<Bytes> = context.pieces().map(|piece| piece.bytes.clone()).collect();
    let found = profile::validate(&pieces, kind, &profile);
    assert!(found.is_empty(), "{}: {messages:?}\n{pieces:?}\n{found:?}", profile.name);
    let carried =
        context.pieces().filter(|piece| !matches!(piece.fate, PieceFate::Added(_))).count();
    assert_eq!(carried, messages.len(), "{}: {messages:?}: nothing is lost", profile.name);
}

#[test]
fn every_short_order_becomes_valid() {
    let Ok(counter) = midfold::tokens::by_name("chars:3.2") else { panic!("no counter") };
    let mut checked = 0;
    for kind in DialectKind::ALL {
        let kinds = kinds(kind);
        for profile in profile::for_dialect(kind) {
            for length in 1..=LONGEST {
                for mut number in 0..kinds.len().pow(length as u32) {
                    let mut messages = Vec::with_capacity(length);
                    for _ in 0..length {
                        messages.push(&kinds[number % kinds.len()]);
                        number /= kinds.len();
                    }
                    check(kind, *profile, &counter, &messages);
                    checked += 1;
                }
            }
        }
    }
    println!("orders checked: {checked}");
}
