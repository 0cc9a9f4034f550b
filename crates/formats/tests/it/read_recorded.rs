//! What a file records, beyond what would be sent next.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::view::TextOrigin;
use midfold_formats::read::{ReadOutcome, read, read_recorded};

/// What is recorded, after a look that its end is what would be sent.
fn recorded(lines: &[&str]) -> ReadOutcome {
    let input = Bytes::from(lines.join("\n"));
    let (sent, recorded) = (read(&input, None).unwrap(), read_recorded(&input, None).unwrap());
    assert_eq!(recorded.conversations.last(), sent.conversations.last());
    assert!(sent.problems.iter().any(|problem| problem.code == "compacted-before"));
    assert!(recorded.problems.is_empty(), "nothing is left out: {:?}", recorded.problems);
    recorded
}

/// The texts of each conversation, which here are short strings in `content` or `text`.
fn texts(found: &ReadOutcome) -> Vec<Vec<String>> {
    let text = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap();
        let (_, after) = text.rsplit_once(r#"t":""#).unwrap();
        after.split('"').next().unwrap().to_owned()
    };
    let of = |events: &[midfold_core::event::RawEvent]| {
        events.iter().map(|event| text(&event.bytes)).collect()
    };
    found.conversations.iter().map(|one| of(&one.events)).collect()
}

#[test]
fn claude_code_up_to_each_boundary() {
    let found = recorded(&[
        r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"S","message":{"role":"user","content":"old"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":"yes"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"3","parentUuid":null,"logicalParentUuid":"2"}"#,
        r#"{"type":"user","uuid":"4","parentUuid":"3","isCompactSummary":true,"message":{"role":"user","content":"recap one"}}"#,
        r#"{"type":"user","uuid":"5","parentUuid":"4","message":{"role":"user","content":"more"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"6","parentUuid":null,"logicalParentUuid":"5"}"#,
        r#"{"type":"user","uuid":"7","parentUuid":"6","isCompactSummary":true,"message":{"role":"user","content":"recap two"}}"#,
        r#"{"type":"user","uuid":"8","parentUuid":"7","message":{"role":"user","content":"new"}}"#,
    ]);
    assert_eq!(texts(&found), [["old", "yes"], ["recap one", "more"], ["recap two", "new"]]);
    assert!(found.conversations.iter().all(|one| one.id.as_deref() == Some("S")));
    assert_eq!(found.conversations[1].events[0].origin, Some(TextOrigin::Recap));
    assert_eq!(found.conversations.iter().map(|one| one.line).collect::<Vec<_>>(), [1, 4, 7]);
}

#[test]
fn codex_up_to_each_replacement() {
    let found = recorded(&[
        r#"{"timestamp":"t","type":"session_meta","payload":{"id":"S","base_instructions":{"text":"be good"}}}"#,
        r#"{"timestamp":"t","type":"turn_context","payload":{"model":"gpt"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"old"}]}}"#,
        r#"{"timestamp":"t","type":"compacted","payload":{"message":"sum"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"new"}]}}"#,
    ]);
    assert_eq!(texts(&found), [vec!["old"], vec!["sum", "new"]]);
    let beside = |at: usize| (&found.conversations[at].id, &found.conversations[at].envelope);
    assert_eq!(beside(0), beside(1));
    assert!(found.conversations[0].envelope.system.is_some());
}

#[test]
fn pi_up_to_each_compaction() {
    let entry = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"t","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let found = recorded(&[
        r#"{"type":"session","version":3,"id":"S","timestamp":"t","cwd":"/"}"#,
        &entry("a", "", "old"),
        &entry("b", "a", "kept"),
        r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"t","summary":"sum","firstKeptEntryId":"b"}"#,
        &entry("d", "c", "new"),
        // Taken out after the compaction: what was sent before it had it.
        r#"{"type":"context_edit","id":"e","parentId":"d","timestamp":"t","targetId":"b"}"#,
        &entry("f", "e", "newer"),
    ]);
    assert_eq!(texts(&found), [vec!["old", "kept"], vec!["sum", "new", "newer"]]);
}

#[test]
fn of_logged_requests_the_last_that_holds_the_others() {
    let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let request = |texts: &[&str]| {
        let all: Vec<_> = texts.iter().map(|text| message(text)).collect();
        format!(r#"{{"messages":[{}]}}"#, all.join(","))
    };
    // The third begins anew, the fifth repeats the fourth.
    let lines = [
        request(&["a"]),
        request(&["a", "b"]),
        request(&["c"]),
        request(&["c", "d"]),
        request(&["c", "d"]),
        request(&["c", "e"]),
    ];
    let input = Bytes::from(lines.join("\n"));
    assert_eq!(read(&input, None).unwrap().conversations.len(), 6);
    let found = read_recorded(&input, None).unwrap();
    assert_eq!(texts(&found), [["a", "b"], ["c", "d"], ["c", "e"]]);
    // An agent and its helper take turns.
    let lines = [
        request(&["a"]),
        request(&["x"]),
        request(&["a", "b"]),
        request(&["x", "y"]),
        request(&["a", "b", "c"]),
    ];
    let found = read_recorded(&Bytes::from(lines.join("\n")), None).unwrap();
    assert_eq!(texts(&found), [vec!["x", "y"], vec!["a", "b", "c"]]);
}
