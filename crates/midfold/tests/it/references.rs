//! Items that a Responses client sends by their id alone (`item_reference`), because the provider holds them.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold::formats::profile::{RESPONSES, validate};
use midfold::{Budget, DialectKind, EventLog, Meter, Policy, RawEvent, Session};
use serde_json::{Value, json};

const KIND: DialectKind = DialectKind::OpenAiResponses;

fn reference(prefix: &str, n: usize) -> Value {
    json!({"type": "item_reference", "id": format!("{prefix}_{n:04}")})
}

fn output(kind: &str, n: usize) -> Value {
    let text = format!("row {n} of the ledger is booked twice. ").repeat(30);
    json!({"type": kind, "call_id": format!("call_{n}"), "output": text})
}

fn says(role: &str, text: &str) -> Value {
    let part = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]})
}

/// The steps of a session: alone, of a custom tool, in parallel, without reasoning, and with the call itself.
fn step(n: usize) -> Vec<Value> {
    match n % 4 {
        0 => vec![reference("rs", n), reference("fc", n), output("function_call_output", n)],
        1 => vec![reference("rs", n), reference("ctc", n), output("custom_tool_call_output", n)],
        2 => vec![
            reference("rs", n),
            reference("msg", n),
            reference("fc", n),
            reference("fc", n + 500),
            output("function_call_output", n),
            output("function_call_output", n + 500),
        ],
        _ => vec![
            json!({"type": "function_call", "call_id": format!("call_{n}"), "name": "read", "arguments": "{}"}),
            output("function_call_output", n),
        ],
    }
}

fn talk(steps: usize) -> Vec<Bytes> {
    let mut items =
        vec![says("developer", "You are an agent."), says("user", "Find the double bookings.")];
    items.extend((0..steps).flat_map(step));
    items.extend([reference("msg", 999), says("user", "Go on with the retry queue.")]);
    items.iter().map(|item| item.to_string().into()).collect()
}

fn session(messages: &[Bytes], policy: &str) -> Session {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let events = messages.iter().map(|bytes| RawEvent::new(bytes.clone()));
    let log = EventLog::of(KIND.shared(), RESPONSES, counter, events);
    Session::over("s", log, Policy::preset(policy).unwrap(), Meter::exact())
}

fn sent(session: &Session) -> Vec<Bytes> {
    session.view().pieces().map(|piece| piece.bytes.clone()).collect()
}

#[test]
fn a_history_of_references_is_valid_and_leaves_as_it_came() {
    let messages = talk(12);
    assert_eq!(validate(&messages, KIND, &RESPONSES), []);
    let mut session = session(&messages, "default");
    session.context(&Budget::new(1_000_000), 0).unwrap();
    assert_eq!(sent(&session), messages);
}

#[test]
fn a_reference_to_a_call_and_its_output_go_and_stay_together() {
    let messages = talk(40);
    for policy in Policy::preset_names() {
        let mut session = session(&messages, policy);
        session.context(&Budget::new(8_000), 0).unwrap();
        let now = sent(&session);
        assert!(session.active().is_some() && now != messages, "{policy}");
        assert_eq!(validate(&now, KIND, &RESPONSES), [], "{policy}");
        let text = String::from_utf8(now.concat()).unwrap();
        assert!(!text.contains("[result of") && !text.contains("[no result"), "{policy}: {text}");
        for n in 0..40 {
            let there = |what: String| text.matches(&what).count();
            let outputs = there(format!("\"call_{n}\",\"output\""))
                + there(format!("\"call_id\":\"call_{n}\""));
            let references = there(format!("\"fc_{n:04}\"")) + there(format!("\"ctc_{n:04}\""));
            assert!(n % 4 == 3 || outputs.min(1) == references, "{policy} {n}: {text}");
        }
    }
}

/// The output did not come yet: a made one would have an id that the provider does not know.
#[test]
fn no_output_is_made_for_a_call_by_reference() {
    let mut messages = talk(4);
    messages.truncate(messages.len() - 2);
    messages.push(reference("fc", 77).to_string().into());
    messages.push(says("user", "Stop.").to_string().into());
    let mut session = session(&messages, "default");
    session.context(&Budget::new(1_000_000), 0).unwrap();
    assert_eq!(sent(&session), messages);
    let rules: Vec<_> =
        validate(&messages, KIND, &RESPONSES).iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["unanswered-call"]);
}
