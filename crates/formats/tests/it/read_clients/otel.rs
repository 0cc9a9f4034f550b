//! Spans of OpenTelemetry.

use bytes::Bytes;
use midfold_formats::read::read;

use super::{codes, fixture, outcome, told};

#[test]
fn the_longest_call_of_a_conversation_is_read_with_its_reply() {
    let found = outcome(fixture("otel.jsonl"));
    assert_eq!(told(&found), include_str!("../../fixtures/told/otel.txt"));
    let conversation = &found.conversations[0];
    let system = conversation.envelope.system.as_deref();
    assert_eq!(system, Some(&br#""You dye.\n\nBe \"quick\".""#[..]));
    assert!(conversation.envelope.tools.is_some());
    // Each message has the time and the cost of the call that brought it.
    let usages: Vec<_> =
        conversation.events.iter().map(|it| it.usage.map(|it| it.prompt)).collect();
    assert_eq!(usages, [None, Some(900), None, None, Some(950), None, Some(990)]);
    assert_eq!(conversation.events[5].at, Some(1_760_000_004_000));
    assert_eq!(conversation.events[6].at, Some(1_760_000_004_500));
}

#[test]
fn attributes_for_each_member_are_read() {
    let found = outcome(fixture("otel-flat.jsonl"));
    assert_eq!(told(&found), include_str!("../../fixtures/told/otel-flat.txt"));
}

fn span(attributes: &str) -> String {
    format!(r#"{{"traceId":"a","spanId":"b","name":"chat","attributes":[{attributes}]}}"#)
}

#[test]
fn spans_without_messages_say_what_to_do() {
    let text = span(r#"{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}"#);
    let error = read(&Bytes::from(text), None).unwrap_err().to_string();
    assert!(error.starts_with("line 1: no span in it"), "{error}");
}

#[test]
fn a_value_that_was_cut_is_named() {
    let value = |text: &str| {
        format!(r#"{{"key":"gen_ai.input.messages","value":{{"stringValue":"{text}"}}}}"#)
    };
    let cut = span(&value(r#"[{\"role\":\"user\",\"parts\":[{\"type\":\"te"#));
    let whole =
        span(&value(r#"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"#));
    let found = outcome(&format!("{whole}\n{cut}"));
    assert_eq!((found.conversations.len(), codes(&found)), (1, vec!["bad-json"]));
}
