//! Sessions of Hermes Agent.

use midfold_formats::read::TranscriptFormat;

use super::{codes, events, fixture, outcome, recorded, told};

#[test]
fn hermes_sends_the_newest_session_of_a_lineage_without_what_it_archived() {
    let text = fixture("hermes.jsonl");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/hermes.txt"));
    let before = recorded(text);
    let counts: Vec<_> = before.conversations.iter().map(|c| events(c).len()).collect();
    assert_eq!(counts, [3, 3, 11, 3]);
    assert_eq!(codes(&before), ["abandoned-branch"]);
}

#[test]
fn hermes_lists_and_session_files_are_its_own_too() {
    let list = r#"[{"role":"user","content":"hi","_db_persisted":true},{"role":"assistant","content":"yes"}]"#;
    let file = format!(
        r#"{{"session_id":"s","session_start":"t","last_updated":"t","system_prompt":"You help.","tools":[],"messages":{list}}}"#
    );
    let lines = "{\"role\":\"session_meta\",\"tools\":[]}\n{\"role\":\"user\",\"content\":\"hi\"}";
    for (text, count) in [(list, 2), (&file, 3), (lines, 1)] {
        let found = outcome(text);
        assert_eq!(found.conversations[0].format, TranscriptFormat::Hermes, "{text}");
        assert_eq!(events(&found.conversations[0]).len(), count, "{text}");
    }
}
