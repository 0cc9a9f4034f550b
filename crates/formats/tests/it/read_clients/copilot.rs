use midfold_core::view::TextOrigin::{Injected, Observation, Recap};

use super::{codes, events, fixture, origins, outcome, recorded};

#[test]
fn events_are_read_as_what_the_model_is_sent() {
    let found = outcome(fixture("copilot.jsonl"));
    assert_eq!(found.conversations.len(), 2);
    let conversation = &found.conversations[0];
    assert_eq!(conversation.id.as_deref(), Some("5-c"));
    assert!(conversation.events.iter().any(|event| event.failed));
    assert_eq!(conversation.envelope.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(conversation.envelope.system.as_deref(), Some(&br#""You ring bells.""#[..]));
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","content":"AGENTWORD1 recap: the bell hangs"}"#,
            r#"{"role":"user","content":"<current_datetime>2026-08-01</current_datetime>\n\n"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"USERWORD1: the bell is flat; never file the rim."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}"#,
            r#"{"role":"user","content":"\n\n<reminder>no todos</reminder>"}"#,
            r#"{"role":"assistant","content":"AGENTWORD2: Two looks.","reasoning_content":"AGENTWORD3 rim or clapper","tool_calls":[{"id":"k1","type":"function","function":{"name":"view","arguments":"{\"path\":\"bell.py\"}"}},{"id":"k2","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ring\"}"}},{"id":"k3","type":"function","function":{"name":"task","arguments":"{\"prompt\":\"measure\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"k1","name":"view","content":"TOOLWORD2 pitch = flat"}"#,
            r#"{"role":"tool","tool_call_id":"k2","name":"bash","content":"TOOLWORD1 ring: not found"}"#,
            r#"{"role":"tool","tool_call_id":"k3","name":"task","content":"TOOLWORD3 two feet"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"k4","type":"function","function":{"name":"edit","arguments":"{\"path\":\"bell.py\",\"old_str\":\"flat\",\"new_str\":\"true\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"k4","name":"edit","content":"TOOLWORD4 edited"}"#,
            r#"{"role":"user","content":"<system_notification>the tuner ended</system_notification>"}"#,
            r#"{"role":"user","content":"TOOLWORD5 ding"}"#,
            r#"{"role":"user","content":"look at the skill"}"#,
            r#"{"role":"user","content":"USERWORD2: ring it."}"#,
        ]
    );
    let mut expected = vec![None; 14];
    (expected[0], expected[1], expected[3]) = (Some(Recap), Some(Injected), Some(Injected));
    (expected[10], expected[11], expected[12]) =
        (Some(Injected), Some(Observation), Some(Injected));
    assert_eq!(origins(conversation), expected);
    let usage = conversation.events[4].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (800, 40, 300));
    assert_eq!(codes(&found), ["compacted-before", "not-sent", "abandoned-branch"]);
    let agent = &found.conversations[1];
    assert_eq!(agent.id.as_deref(), Some("k3"));
    assert_eq!(events(agent).len(), 2);
}

#[test]
fn the_record_has_what_was_sent_before_the_compaction() {
    let all = recorded(fixture("copilot.jsonl")).conversations;
    assert_eq!(all.len(), 3);
    let before = events(&all[0]);
    assert_eq!(before.len(), 5);
    assert!(before[0].contains("GONEWORD1") && before[3].contains("USERWORD1"));
}

#[test]
fn sessions_of_older_versions_hold_messages() {
    let old = r#"{"sessionId":"s1","startTime":"2025-10-01","chatMessages":[{"role":"user","content":"go"},{"role":"assistant","content":"yes"}],"timeline":[]}"#;
    let found = outcome(old);
    assert_eq!(found.conversations[0].id.as_deref(), Some("s1"));
    assert_eq!(events(&found.conversations[0]).len(), 2);
}

#[test]
fn a_typed_letter_is_not_found_in_an_escape() {
    let line =
        r#"{"type":"user.message","id":"1","data":{"content":"n","transformedContent":"\n\nn\n"}}"#;
    let found = outcome(line);
    assert_eq!(
        events(&found.conversations[0]),
        [
            r#"{"role":"user","content":"\n\n"}"#,
            r#"{"role":"user","content":"n"}"#,
            r#"{"role":"user","content":"\n"}"#,
        ]
    );
}
