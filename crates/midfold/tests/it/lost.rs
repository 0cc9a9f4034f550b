//! What a fold lost, in the order of what it weighs.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold::core::audit::LostKind;
use midfold::core::tools::ToolTable;
use midfold::formats::profile::OPENAI;
use midfold::{Budget, DialectKind, EventLog, Meter, Policy, RawEvent, Session};
use serde_json::{Value, json};

const KIND: DialectKind = DialectKind::OpenAiChat;
/// Said in the middle, where nothing stays word for word.
const RULE: &str = "Never touch the table of invoices, the auditors are reading it.";
const DECISION: &str = "The retry queue goes into Postgres because the old broker loses messages.";

fn call(n: usize, command: &str, output: &str) -> [Value; 2] {
    let arguments = json!({ "command": command }).to_string();
    let call = json!({ "id": format!("call_{n}"), "type": "function", "function": { "name": "bash", "arguments": arguments } });
    [
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": format!("call_{n}"), "content": output }),
    ]
}

fn talk() -> Vec<Bytes> {
    let mut all =
        vec![json!({ "role": "user", "content": "Make the billing service restart safe." })];
    let filler = "row of the ledger is booked once and stays as it is. ".repeat(40);
    for n in 0..30 {
        let output = format!("ledger_{n}.csv {filler}");
        all.extend(call(n, &format!("cat ledger_{n}.csv"), &output));
        if n == 8 {
            all.push(json!({ "role": "assistant", "content": DECISION }));
            all.push(json!({ "role": "user", "content": RULE }));
            all.extend(call(
                100,
                "cargo test",
                "error: linking with `cc` failed: exit status 1\n1 failed",
            ));
        }
    }
    all.extend(call(101, "cat ledger_3.csv", "ledger_3.csv again"));
    all.push(json!({ "role": "user", "content": "Go on." }));
    all.iter().map(|message| message.to_string().into()).collect()
}

fn folded(preset: &str) -> Session {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let events = talk().into_iter().map(RawEvent::new);
    let log = EventLog::of(KIND.shared(), OPENAI, counter, events);
    let mut session = Session::over("s", log, Policy::preset(preset).unwrap(), Meter::exact());
    session.context(&Budget::new(6_000), 0).unwrap();
    session
}

/// A marker tells nothing: everything that was said and failed is lost, and stands before names.
#[test]
fn what_people_said_comes_first_and_names_last() {
    let session = folded("head-tail");
    let fold = session.active().unwrap();
    let lost = fold.lost_groups(session.log(), ToolTable::builtin());
    let kinds: Vec<LostKind> = lost.iter().map(|group| group.kind).collect();
    assert!(kinds.is_sorted() && kinds.first() == Some(&LostKind::Said), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&LostKind::Name));
    let of = |kind| lost.iter().find(|group| group.kind == kind).unwrap();
    let says = |kind, text: &str| of(kind).first.iter().any(|one| one.text.contains(text));
    assert!(says(LostKind::Said, RULE) && says(LostKind::Decided, DECISION), "{lost:#?}");
    assert!(says(LostKind::Failed, "linking with `cc` failed"), "{lost:#?}");
    let rule = of(LostKind::Said).first.iter().find(|one| one.text == RULE).unwrap();
    let message = &session.log().events()[rule.seq.unwrap() as usize];
    assert!(String::from_utf8_lossy(&message.bytes).contains(RULE));
    for group in &lost {
        assert!(group.count as usize >= group.first.len() && !group.first.is_empty(), "{group:?}");
    }
}

/// What the recap says is not lost.
#[test]
fn what_the_recap_tells_is_not_listed() {
    let session = folded("default");
    let fold = session.active().unwrap();
    let recap = &fold.recap.as_ref().unwrap().text;
    assert!(recap.contains(RULE), "{recap}");
    let lost = fold.lost_groups(session.log(), ToolTable::builtin());
    assert!(
        !lost.iter().flat_map(|group| &group.first).any(|one| one.text.contains(RULE)),
        "{lost:#?}"
    );
}
