//! Event logs of OpenHands, newer and older.

use super::{codes, events, fixture, outcome, recorded, told};

#[test]
fn openhands_sends_what_its_condenser_left_on_the_newest_branch() {
    let text = fixture("openhands.jsonl");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/openhands.txt"));
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
    assert_eq!(codes(&before), ["abandoned-branch", "not-sent"]);
}

#[test]
fn openhands_before_1_0_tells_a_response_once_and_its_results_after_it() {
    let text = fixture("openhands-old.json");
    let found = outcome(text);
    assert_eq!(told(&found), include_str!("../../fixtures/told/openhands-old.txt"));
    let usage = found.conversations[0].events.iter().find_map(|event| event.usage).unwrap();
    assert_eq!((usage.prompt, usage.cache_read, usage.output), (1200, 1000, 20));
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
}

/// Rows of an evaluation, an export, and one event a file are the same events.
#[test]
fn openhands_events_are_found_wherever_they_are() {
    let text = fixture("openhands-old.json");
    for name in ["history", "trajectory", "events"] {
        let row = format!(r#"{{"instance_id":"app-7","{name}":{text}}}"#);
        let found = outcome(&row.replace('\n', ""));
        assert_eq!(found.conversations[0].id.as_deref(), Some("app-7"));
        assert_eq!(
            events(&found.conversations[0]).len(),
            events(&outcome(text).conversations[0]).len()
        );
    }
}

#[test]
fn openhands_parents_that_are_missing_or_run_in_circles_end() {
    let event = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"kind":"MessageEvent","id":"{id}","timestamp":"t","source":"user","parent_id":"{parent}","llm_message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let text = [event("a", "b", "one"), event("b", "a", "two"), event("c", "nowhere", "three")];
    assert_eq!(events(&outcome(&text.join("\n")).conversations[0]).len(), 3);
}
