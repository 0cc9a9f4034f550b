//! Sessions of Goose.

use midfold_formats::read::TranscriptFormat;

use super::{codes, events, fixture, outcome, recorded, told};

#[test]
fn goose_sends_what_the_model_sees() {
    let text = fixture("goose.json");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/goose.txt"));
    assert!(outcome(text).conversations[0].events.iter().any(|event| event.failed));
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
    assert_eq!(codes(&before), ["not-sent"]);
}

#[test]
fn goose_lines_of_older_releases_are_one_conversation() {
    assert_eq!(
        told(&outcome(fixture("goose.jsonl"))),
        include_str!("../../fixtures/told/goose-lines.txt")
    );
}

/// `created` alone is anybody's.
#[test]
fn goose_is_told_by_what_only_it_writes() {
    let other = r#"[{"role":"user","created":1,"content":[{"type":"text","text":"hi"}]}]"#;
    assert_ne!(outcome(other).conversations[0].format, TranscriptFormat::Goose);
}

#[test]
fn sessions_of_subagents_are_in_an_export() {
    let session = |id: &str, more: &str| {
        format!(
            r#"{{"id":"{id}","conversation":[{{"role":"user","created":1,"content":[{{"type":"text","text":"{id}"}}],"metadata":{{"userVisible":true,"agentVisible":true}}}}]{more}}}"#
        )
    };
    let text = session("parent", &format!(r#","child_sessions":[{}]"#, session("child", "")));
    let found = outcome(&text);
    let ids: Vec<_> = found.conversations.iter().map(|it| it.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["parent", "child"]);
}
