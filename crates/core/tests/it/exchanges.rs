//! The place of a hidden exchange, what an audit says of a log with one in the wrong place, and of whom a note is.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::RawEvent;
use midfold_core::audit::{audit, rule};
use midfold_core::engine::{NotedHistory, Session};
use midfold_core::exchanges::{ClientChain, ExchangeWalk};
use midfold_core::fold::FoldJoin;
use midfold_core::ledger::{CallInput, CallRecord, ClientHistory, Ledger};
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::policy::Policy;
use midfold_formats::{DialectKind, profile};

use crate::quarter::Quarter;

const SYSTEM: &str = r#"{"role":"system","content":"Be brief. It is 12:04."}"#;
const ASKS: &str = r#"{"role":"user","content":"Look at it."}"#;
const NOTES: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"midfold_note","arguments":"{\"text\":\"the gate is shut\"}"}}]}"#;
const NOTED: &str = r#"{"role":"tool","tool_call_id":"call_0","content":"noted"}"#;
const CALLS: &str = r#"{"role":"assistant","content":"","tool_calls":[{"id":"call_0","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\",\"seconds\":1.0}"}}]}"#;
const PRINTS: &str = r#"{"role":"tool","tool_call_id":"call_0","content":"one file"}"#;
const DONE: &str = r#"{"role":"assistant","content":"Done."}"#;

/// What a client has, and the log of it with an exchange in front of the call.
const CLIENT: [&str; 5] = [SYSTEM, ASKS, CALLS, PRINTS, DONE];
const LOG: [&str; 7] = [SYSTEM, ASKS, NOTES, NOTED, CALLS, PRINTS, DONE];

fn walked(kind: DialectKind, messages: &[&str]) -> ExchangeWalk {
    let begin = ClientChain::begin([&b"ann"[..]]);
    let mut walk = ExchangeWalk::new(begin, kind == DialectKind::OpenAiResponses);
    for message in messages {
        walk.message(&kind.dialect().view(message.as_bytes()), message.as_bytes());
    }
    walk.end();
    walk
}

fn chat(messages: &[&str]) -> ExchangeWalk {
    walked(DialectKind::OpenAiChat, messages)
}

fn session(messages: &[&str]) -> Session {
    let log = EventLog::new(DialectKind::OpenAiChat.shared(), profile::OPENAI, Arc::new(Quarter));
    let policy = Policy::preset("default").unwrap_or_else(|error| unreachable!("{error}"));
    let mut session = Session::over("s", log, policy, Meter::exact());
    for message in messages {
        session.append(RawEvent::new(Bytes::copy_from_slice(message.as_bytes())));
    }
    session
}

#[test]
fn a_history_has_the_same_chain_with_and_without_its_exchanges() {
    let (client, log) = (chat(&CLIENT), chat(&LOG));
    assert_eq!(client.chain(), log.chain());
    let found = &log.exchanges()[0];
    assert_eq!((found.messages.clone(), found.shown, found.replies), (2..=4, 1, 1));
    assert_eq!(found.place, client.shown()[0].place);
    assert!(client.exchanges().is_empty() && found.is_complete && found.behind.is_empty());
    // The call and a call of the client's own in one answer: the result comes behind it.
    let both =
        NOTES.replace("}}]}", r#"}},{"id":"call_1","function":{"name":"bash","arguments":""}}]}"#);
    let log =
        chat(&[ASKS, &both, NOTED, r#"{"role":"tool","tool_call_id":"call_1","content":"x"}"#]);
    let own = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","function":{"name":"bash","arguments":"{}"}}]}"#;
    let client = chat(&[ASKS, own, r#"{"role":"tool","tool_call_id":"call_1","content":"x"}"#]);
    assert_eq!(client.chain(), log.chain());
    assert_eq!(log.exchanges()[0].behind[0].1, "noted");
}

/// Formats that name no ids, and one that has items.
#[test]
fn each_format_has_one_chain() {
    let gemini = [
        r#"{"role":"user","parts":[{"text":"Look."}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"midfold_recall","args":{}}},{"functionCall":{"name":"bash","args":{"a":1,"b":2}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"midfold_recall","response":{"output":"x"}}},{"functionResponse":{"name":"bash","response":{"output":"y"}}}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"bash","args":{ "b":2, "a":1 }}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"y"}}}]}"#,
    ];
    let of = |at: &[usize]| {
        let messages: Vec<_> = at.iter().map(|at| gemini[*at]).collect();
        walked(DialectKind::Gemini, &messages).chain()
    };
    assert_eq!(of(&[0, 1, 2]), of(&[0, 3, 4]));
    let items = [
        r#"{"role":"user","content":"Look."}"#,
        r#"{"type":"function_call","call_id":"h","name":"midfold_recall","arguments":"{}"}"#,
        r#"{"type":"function_call_output","call_id":"h","output":"x"}"#,
        r#"{"type":"message","id":"m1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Done."}]}"#,
        r#"{"type":"function_call","id":"f1","call_id":"c","name":"bash","arguments":"{}"}"#,
    ];
    let bare = r#"{"type":"function_call","call_id":"c","name":"bash","arguments":" { } "}"#;
    let log = walked(DialectKind::OpenAiResponses, &items);
    let client = walked(DialectKind::OpenAiResponses, &[items[0], items[3], bare]);
    assert_eq!((log.chain(), log.shown().len()), (client.chain(), 2));
    assert_eq!(log.exchanges()[0].place, client.shown()[0].place);
}

#[test]
fn every_part_of_a_history_counts_and_no_spelling() {
    let plain = chat(&CLIENT).chain();
    let with = |at: usize, from: &str, to: &str| {
        let changed = CLIENT[at].replace(from, to);
        assert_ne!(changed, CLIENT[at], "{from}");
        let mut all = CLIENT;
        all[at] = &changed;
        chat(&all).chain()
    };
    for (at, from, to) in [
        (0, "brief", "long"),
        (1, "user", "assistant"),
        (1, "Look", "Look twice"),
        (2, "ls", "rm"),
        (2, "1.0", "1.5"),
        (2, "bash", "sh"),
        (2, "call_0", "call_1"),
        (3, "one", "no"),
        (3, "call_0", "call_1"),
        (4, "Done", "Not done"),
    ] {
        assert_ne!(plain, with(at, from, to), "{from}");
    }
    for (at, from, to) in [
        (0, "12:04", "12:05"),
        (1, "}", r#","cache_control":{"type":"ephemeral"}}"#),
        (2, "call_0", "call0"),
        (2, r#"{\"command\":\"ls\","#, r#"{ \"command\": \"ls\", "#),
        (2, "1.0", "1"),
        (2, r#""content":"""#, r#""content":null,"reasoning_content":"Hm.""#),
        (4, "Done.", "Done.\\n"),
    ] {
        assert_eq!(plain, with(at, from, to), "{from}");
    }
}

fn called(log: &EventLog, client: ClientHistory) -> CallRecord {
    let session = session(&[]);
    let call = CallInput {
        joining: &FoldJoin::default(),
        events: u32::try_from(log.len()).unwrap_or(u32::MAX),
        head_hash: log.head_hash(),
        fold: None,
        void: None,
        pins: &[],
        meter: &Meter::exact(),
        client: Some(client),
        newest_room: None,
    };
    let mut record = Ledger::default().record(&session.view(), &call);
    record.context_hash = midfold_core::ledger::context_hash(
        &midfold_core::project::ContextProjection::new(log, None).context(),
    );
    record
}

/// What an audit finds of a log whose client sent this.
fn found(log: &[&str], client: ClientHistory) -> Vec<String> {
    let session = session(log);
    let call = called(session.log(), client);
    let audit = audit(session.log(), &[], None, &[call]);
    let ours = audit.findings.into_iter().filter(|finding| finding.rule == rule::CALL_CLIENT);
    ours.map(|finding| finding.detail).collect()
}

#[test]
fn an_audit_finds_a_log_that_differs_from_what_the_client_sent() {
    let client = chat(&CLIENT);
    let place = chat(&LOG).exchanges()[0].place;
    let sent = ClientHistory::new(client.begins(), client.chain(), &[place]);
    assert_eq!(found(&LOG, sent), [""; 0]);
    // The call of an answer that the client dropped stands in the place of its own.
    let other = CALLS.replace("ls", "rm");
    let mut log = LOG;
    log[4] = &other;
    assert_eq!(found(&log, sent).len(), 1);
    // An exchange that the proxy does not know to have taken place.
    let none = ClientHistory::new(client.begins(), client.chain(), &[]);
    assert_eq!(found(&LOG, none).len(), 1);
    assert_eq!(found(&CLIENT, none), [""; 0]);
    // One that took place in another conversation.
    let elsewhere = chat(&[SYSTEM, r#"{"role":"user","content":"Not it."}"#, NOTES, NOTED, CALLS]);
    let foreign =
        ClientHistory::new(client.begins(), client.chain(), &[elsewhere.exchanges()[0].place]);
    assert_eq!(found(&LOG, foreign), ["a hidden exchange took place behind another history"]);
    // A message that the client never sent.
    let mut longer = CLIENT.to_vec();
    longer.insert(2, ASKS);
    assert_eq!(found(&longer, none).len(), 1);
}

/// A record from before 30 November 2026, whose hash is over the number as the client spelled it.
#[test]
fn an_older_record_of_a_spelled_number_is_no_fault() {
    const SPELLED: &str = "\"b1e132a18119a817a910635cf2ef46ff0054f3070c4e982389e353500daf0234\"";
    let sent = ClientHistory::of(&chat(&[ASKS, CALLS]));
    let hash = serde_json::from_str(SPELLED).unwrap_or_else(|error| unreachable!("{error}"));
    let older = ClientHistory { hash, ..sent };
    assert_ne!(older, sent);
    assert_eq!(found(&[ASKS, CALLS], older), [""; 0]);
    assert_eq!(found(&[ASKS, &CALLS.replace("1.0", "1.5")], older).len(), 1);
}

/// A note is of the history in which it was written, and in that of the answer that wrote it.
#[test]
fn a_note_is_in_force_where_its_call_is() {
    let read = |session: &Session| {
        let log = session.log();
        NotedHistory { events: 2, hash: log.head_hash().chain(ASKS.as_bytes()), is_called: true }
    };
    let noted = |goes_on: &[&str]| {
        let mut session = session(&[SYSTEM]);
        let read = read(&session);
        session.note_of("the gate is shut", Some(read)).unwrap();
        assert!(session.notes().is_empty(), "its message is not in the log yet");
        for message in goes_on {
            session.append(RawEvent::new(Bytes::copy_from_slice(message.as_bytes())));
        }
        session.drop_foreign_notes();
        session
    };
    let own = noted(&LOG[1..]);
    assert_eq!(own.notes(), ["the gate is shut"]);
    assert_eq!(own.fork("f", 7).notes(), ["the gate is shut"]);
    assert!(own.fork("f", 2).notes().is_empty());
    // Other messages follow, or the same ones and another answer.
    let other = r#"{"role":"user","content":"Look elsewhere."}"#;
    assert!(noted(&[other, NOTES, NOTED, CALLS]).notes().is_empty());
    assert!(noted(&CLIENT[1..]).notes().is_empty());
    // One whose place nobody kept goes with the whole history alone.
    let mut old = session(&LOG);
    old.note_of("an old note", None).unwrap();
    assert_eq!(old.fork("f", 7).notes(), ["an old note"]);
    assert!(old.fork("f", 5).notes().is_empty());
}
