//! Exports of Langfuse.

use bytes::Bytes;
use midfold_core::view::Role;
use midfold_formats::read::{TranscriptFormat, read};

use super::{events, fixture, outcome, told};

#[test]
fn the_longest_generation_of_a_trace_is_read_with_its_output() {
    let found = outcome(fixture("langfuse.json"));
    assert_eq!(told(&found), include_str!("../../fixtures/told/langfuse.txt"));
    assert!(found.conversations[0].envelope.tools.is_some());
    let usage = found.conversations[0].events[2].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (1000, 7, 100));
}

#[test]
fn messages_of_another_dialect_stay_in_it() {
    let text = r#"{"id":"o","trace_id":"t","type":"GENERATION","start_time":"2026-01-01 00:00:00.000000","input":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}],"output":{"id":"msg","type":"message","role":"assistant","content":[{"type":"text","text":"done"}]}}"#;
    let found = outcome(text);
    let conversation = &found.conversations[0];
    assert_eq!(conversation.format, TranscriptFormat::Anthropic);
    let dialect = conversation.format.dialect().dialect();
    let roles: Vec<_> =
        conversation.events.iter().map(|event| dialect.view(&event.bytes).role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::Assistant]);
    assert_eq!(events(conversation)[0], r#"{"role":"user","content":"go"}"#);
}

#[test]
fn traces_without_observations_say_what_to_do() {
    let text = r#"[{"id":"t","projectId":"p","timestamp":"2026-01-01T00:00:00Z","name":"agent","input":"x","output":"y"}]"#;
    let error = read(&Bytes::from(text), None).unwrap_err().to_string();
    assert!(error.contains("export the observations"), "{error}");
}
