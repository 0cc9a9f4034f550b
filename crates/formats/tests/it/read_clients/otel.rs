//! Spans of OpenTelemetry.

use bytes::Bytes;
use midfold_formats::read::read;

use super::{codes, events, fixture, outcome, told};

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

fn attribute(name: &str, value: &str) -> String {
    format!(r#"{{"key":"{name}","value":{{"stringValue":"{value}"}}}}"#)
}

#[test]
fn a_part_that_is_not_read_hides_no_other_part() {
    let part = |number: u8, name: &str, value: &str| {
        let start = "llm.input_messages.0.message.contents";
        attribute(&format!("{start}.{number}.message_content.{name}"), value)
    };
    let found = outcome(&span(
        &[
            attribute("llm.input_messages.0.message.role", "user"),
            part(0, "audio.audio.url", "http://a"),
            part(1, "text", "what do you hear?"),
            attribute("llm.output_messages.0.message.content", "a bell"),
        ]
        .join(","),
    ));
    assert_eq!(codes(&found), ["media"]);
    let sent = [
        r#"{"role":"user","content":"what do you hear?"}"#,
        r#"{"role":"assistant","content":"a bell"}"#,
    ];
    assert_eq!(events(&found.conversations[0]), sent);
}

/// Every role keeps its meaning; a message without one is the user's, or the model's among the replies.
#[test]
fn flat_messages_keep_their_roles() {
    let found = outcome(&span(
        &[
            attribute("gen_ai.prompt.0.role", "developer"),
            attribute("gen_ai.prompt.0.content", "Be terse."),
            attribute("gen_ai.prompt.1.content", "hi"),
            attribute("gen_ai.prompt.2.role", "assistant"),
            attribute("gen_ai.prompt.2.function_call_name", "f"),
            attribute("gen_ai.prompt.3.role", "function"),
            attribute("gen_ai.prompt.3.name", "f"),
            attribute("gen_ai.prompt.3.content", "RESULT"),
            attribute("gen_ai.completion.0.finish_reason", "stop"),
            attribute("gen_ai.completion.1.content", "ok"),
        ]
        .join(","),
    ));
    let sent = [
        r#"{"role":"developer","content":"Be terse."}"#,
        r#"{"role":"user","content":"hi"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"","name":"f","content":"RESULT"}"#,
        r#"{"role":"assistant","content":"ok"}"#,
    ];
    assert_eq!(events(&found.conversations[0]), sent);
    let parts =
        r#"[{\"role\":\"developer\",\"parts\":[{\"type\":\"text\",\"content\":\"Be terse.\"}]}]"#;
    let found = outcome(&span(&attribute("gen_ai.input.messages", parts)));
    assert_eq!(events(&found.conversations[0]), sent[..1]);
}
