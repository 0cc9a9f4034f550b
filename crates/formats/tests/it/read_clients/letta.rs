//! Agent files of Letta.

use super::{codes, events, fixture, outcome, recorded, told};

#[test]
fn letta_sends_the_messages_of_its_context() {
    let text = fixture("letta.af");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/letta.txt"));
    assert!(outcome(text).conversations[0].events.iter().any(|event| event.failed));
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
    assert_eq!(codes(&before), ["missing-messages"]);
}

/// Older files hold one agent, and say by place which messages are in its context.
#[test]
fn letta_files_of_one_agent_are_read() {
    let message =
        |role: &str| format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"x"}}]}}"#);
    let text = format!(
        r#"{{"name":"old","in_context_message_indices":[0,2,9],"messages":[{},{},{}]}}"#,
        message("system"),
        message("assistant"),
        message("user")
    );
    let found = outcome(&text);
    assert_eq!(events(&found.conversations[0]).len(), 2);
    assert_eq!(codes(&found), ["missing-messages", "compacted-before"]);
}
