use midfold_core::view::TextOrigin::{Injected, Recap};

use super::{codes, events, fixture, origins, outcome, recorded};

#[test]
fn the_newest_branch_is_read_behind_its_summary() {
    let found = outcome(fixture("droid.jsonl"));
    let conversation = &found.conversations[0];
    assert_eq!(conversation.id.as_deref(), Some("f0-1"));
    assert_eq!(conversation.envelope.model.as_deref(), Some("claude-opus-4-6"));
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","content":"AGENTWORD3 recap: the dam was opened"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<system-reminder>\nThe todo list is empty.\n</system-reminder>"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<system-reminder>\nToday is dry.\n</system-reminder>"},{"type":"text","text":"USERWORD1: the dam leaks; never lower the gate."}]}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"AGENTWORD1 two looks","signature":"c2ln"},{"type":"text","text":"AGENTWORD2: Two looks."},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"dam.py"}},{"type":"tool_use","id":"toolu_2","name":"Execute","input":{"command":"make dam"}}],"model":"claude-opus-4-6"}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":"TOOLWORD1 leak = True"},{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"TOOLWORD2 no rule to make target"}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_3","name":"Edit","input":{"file_path":"dam.py","old_str":"True","new_str":"False"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_3","is_error":false,"content":"TOOLWORD3 edited"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"AGENTWORD4: It holds."}]}"#,
            r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"USERWORD2: what is this crack?"}]}"#,
        ]
    );
    let mut expected = vec![None; 9];
    (expected[0], expected[1]) = (Some(Recap), Some(Injected));
    assert_eq!(origins(conversation), expected);
    assert_eq!(codes(&found), ["compacted-before", "abandoned-branch", "not-sent"]);
}

#[test]
fn the_record_has_what_was_sent_before_the_summary() {
    let all = recorded(fixture("droid.jsonl")).conversations;
    assert_eq!(all.len(), 2);
    assert_eq!(events(&all[0]).len(), 6);
    assert!(events(&all[0])[0].contains("GONEWORD1"));
}

#[test]
fn an_anchor_that_is_kept_is_the_first_that_is_kept() {
    let text = fixture("droid.jsonl").replace(r#""id":"d2","index":1"#, r#""id":"d3","index":2"#);
    assert_eq!(events(&outcome(&text).conversations[0]).len(), 9);
    let text = fixture("droid.jsonl").replace(r#""id":"d2","index":1"#, r#""id":"gone""#);
    assert_eq!(events(&outcome(&text).conversations[0]).len(), 5);
}

#[test]
fn a_part_of_a_file_is_told_from_one_of_pi() {
    let lines: Vec<_> = fixture("droid.jsonl").lines().skip(6).take(2).collect();
    assert_eq!(events(&outcome(&lines.join("\n")).conversations[0]).len(), 2);
    let pi = r#"{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[{"type":"text","text":"go"}]}}"#;
    assert_eq!(outcome(pi).conversations[0].format, midfold_formats::read::TranscriptFormat::Pi);
}
