//! Chats of GitHub Copilot in VS Code.

use super::{codes, events, fixture, outcome, recorded, told};

#[test]
fn a_chat_that_was_exported_is_read() {
    let found = outcome(fixture("copilot-chat.json"));
    assert_eq!(told(&found), include_str!("../../fixtures/told/copilot-chat.txt"));
}

#[test]
fn a_log_of_changes_is_put_together() {
    let text = fixture("copilot-chat.jsonl");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/copilot-chat-log.txt"));
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    let first = events(&before.conversations[0]).join("");
    assert!(first.contains("GONEWORD3") && !first.contains("GONEWORD4"), "{first}");
}

/// The newest change of a value counts, at whichever level it was made.
#[test]
fn a_change_replaces_what_is_below_it_and_counts_for_what_is_above() {
    let first = r#"{"kind":0,"v":{"creationDate":1,"requests":[{"requestId":"r","message":{"text":"q"},"response":[{"value":"shown"}],"result":{"metadata":{"toolCallRounds":[{"id":"x","response":"old"}]}}}]}}"#;
    let set =
        |path: &str, value: &str| format!(r#"{{"kind":1,"k":["requests",0,{path}],"v":{value}}}"#);
    let push = r#"{"kind":2,"k":["requests",0,"result","metadata","toolCallRounds"],"v":[{"id":"y","response":"pushed"}]}"#;
    let of = |changes: &[String]| {
        let log = std::iter::once(first.to_owned()).chain(changes.iter().cloned());
        let found = outcome(&log.collect::<Vec<_>>().join("\n"));
        let text = |event: &&str| {
            let event: serde_json::Value = serde_json::from_str(event).unwrap();
            event["content"].as_str().unwrap().to_owned()
        };
        events(&found.conversations[0]).iter().map(text).collect::<Vec<_>>()
    };
    let text = set(r#""message","text""#, r#""once""#);
    let message = set(r#""message""#, r#"{"text":"twice"}"#);
    assert_eq!(of(&[text.clone(), message.clone()]), ["twice", "old"]);
    assert_eq!(of(&[message, text]), ["once", "old"]);
    let rounds = r#"{"toolCallRounds":[{"id":"y","response":"new"}]}"#;
    assert_eq!(of(&[set(r#""result","metadata""#, rounds)]), ["q", "new"]);
    assert_eq!(of(&[push.to_owned()]), ["q", "old"]);
    let deleted = r#"{"kind":3,"k":["requests",0,"result"]}"#.to_owned();
    assert_eq!(of(&[set(r#""result","metadata""#, rounds), deleted]), ["q", "shown"]);
}

/// The events that the extension writes for hooks are those of Copilot CLI.
#[test]
fn a_transcript_of_the_extension_is_read_as_one_of_the_command_line() {
    let text = r#"{"type":"session.start","data":{"sessionId":"s1","version":1,"producer":"copilot-agent","startTime":"2026-01-01T00:00:00.000Z"},"id":"1","timestamp":"2026-01-01T00:00:00.000Z","parentId":null}
{"type":"user.message","data":{"content":"go","attachments":[]},"id":"2","timestamp":"2026-01-01T00:00:00.000Z","parentId":"1"}
{"type":"assistant.message","data":{"messageId":"m","content":"I look.","toolRequests":[{"toolCallId":"c","name":"read_file","arguments":"{}","type":"function"}],"reasoningText":"hm"},"id":"3","timestamp":"2026-01-01T00:00:01.000Z","parentId":"2"}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"read_file","arguments":{}},"id":"4","timestamp":"2026-01-01T00:00:01.000Z","parentId":"3"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"result":{"content":"no such file"}},"id":"5","timestamp":"2026-01-01T00:00:02.000Z","parentId":"4"}"#;
    let found = outcome(text);
    assert_eq!(
        events(&found.conversations[0]),
        [
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":"I look.","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c","name":"read_file","content":"no such file"}"#,
        ]
    );
    assert!(found.conversations[0].events[2].failed);
    assert_eq!(codes(&found), [""; 0]);
}
