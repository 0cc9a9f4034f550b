//! The arguments of calls are JSON, and a name in them may be behind an escape: `\tquotaOf` is a
//! tab and `quotaOf`, for a recap and for whoever judges one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use bytes::Bytes;
use midfold::core::ids::identifiers;
use midfold::core::narrate::{FinishReason, SummaryReply};
use midfold::formats::profile;
use midfold::{
    Budget, DialectKind, EventLog, Fold, Meter, PlanOutcome, Policy, RawEvent, Session, tokens,
};
use serde_json::{Value, json};

/// A file with tabs, line breaks, a path with backslashes and a name written as a code point.
const CONTENT: &str =
    "fn a() {\n\tquotaOf(x);\nzebraLimit.run();\r\n}\nC:\\temp\\nodeRoot_1 \u{1}beta_two";

fn call(arguments: &str) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function",
        "function": { "name": "write_file", "arguments": arguments } }] })
}

fn planted(arguments: &str) -> Vec<Value> {
    let mut rows = vec![
        json!({ "role": "user", "content": "Write it." }),
        call(arguments),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "done" }),
    ];
    for _ in 0..60 {
        let words = "we went on as before and nothing came of it ".repeat(8);
        rows.push(json!({ "role": "assistant", "content": words }));
        rows.push(json!({ "role": "user", "content": "Go on." }));
    }
    rows
}

fn open(rows: &[Value], policy: Policy) -> Session {
    let events = rows.iter().map(|row| RawEvent::new(Bytes::from(row.to_string())));
    let counter = tokens::by_name("chars:4").unwrap();
    let log = EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, events);
    Session::over("s", log, policy, Meter::exact())
}

fn recap(session: &mut Session) -> Fold {
    match session.compact(&Budget::new(6_000), None).unwrap() {
        PlanOutcome::Folded(fold) => *fold,
        PlanOutcome::Nothing(reason) => panic!("{reason}"),
    }
}

fn named(fold: &Fold) -> Vec<&str> {
    identifiers(&fold.recap.as_ref().unwrap().text).collect()
}

#[test]
fn a_recap_names_what_the_agent_wrote_and_not_what_an_escape_glues_to_it() {
    let arguments = json!({ "path": "src/a.rs", "content": CONTENT }).to_string();
    let fold = recap(&mut open(&planted(&arguments), Policy::preset("default").unwrap()));
    let named = named(&fold);
    for name in ["quotaOf", "zebraLimit.run", "nodeRoot_1", "beta_two"] {
        assert!(named.contains(&name), "{name}: {named:?}");
    }
    for glued in ["tquotaOf", "nzebraLimit.run", "u0001beta_two", "odeRoot_1"] {
        assert!(!named.contains(&glued), "{glued}: {named:?}");
    }
}

#[test]
fn what_is_no_json_is_read_as_it_stands() {
    // A tool that takes a script: its backslashes are its own.
    let fold =
        recap(&mut open(&planted(r"cd C:\temp\nodeRoot_1"), Policy::preset("default").unwrap()));
    let known = fold.kept_ids.first.iter().chain(&fold.lost_ids.first);
    assert!(known.clone().any(|name| name.as_str() == "nodeRoot_1"), "{known:?}");
}

#[test]
fn a_name_that_stays_in_a_call_gets_no_place_in_the_index() {
    let arguments = json!({ "path": "src/a.rs", "content": CONTENT }).to_string();
    let mut rows = planted(&arguments);
    rows.push(json!({ "role": "user", "content": "Once more." }));
    rows.extend([
        call(&arguments),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "ok" }),
    ]);
    let fold = recap(&mut open(&rows, Policy::preset("default").unwrap()));
    let text = &fold.recap.as_ref().unwrap().text;
    let index = text.split("### Index").nth(1).unwrap_or_default();
    for name in ["quotaOf", "zebraLimit.run", "beta_two"] {
        assert!(!index.contains(name), "{name}: {index}");
    }
}

#[test]
fn a_narration_may_name_what_only_arguments_hold() {
    let policy = Policy::from_toml("base = \"default\"\n[narration]\non = true").unwrap();
    let say = |what: &str| {
        let sections = policy.narration.sections.iter();
        let sections: String = sections.map(|s| format!("- **{s}:** {what}\n")).collect();
        let text = format!("{}\n{sections}", policy.recap.header);
        SummaryReply { text, finish: FinishReason::Stop, model: "m".into(), usage: None, calls: 1 }
    };
    let arguments = json!({ "path": "src/a.rs", "content": CONTENT }).to_string();
    for (text, code) in [
        ("quotaOf, zebraLimit.run and beta_two are written", "accepted"),
        ("quotaFor, zebraLimits.run and beta_three are written", "ungrounded"),
    ] {
        let mut session = open(&planted(&arguments), policy.clone());
        let request = session.take_request(&Budget::new(8_000), 1).unwrap();
        let verdict = session.complete(&request, Ok(say(text)), 2).unwrap();
        assert_eq!(verdict.code.as_str(), code, "{text}: {}", verdict.detail);
    }
}
