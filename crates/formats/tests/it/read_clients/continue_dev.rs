//! Sessions of Continue.

use super::{events, fixture, outcome, recorded, told};

#[test]
fn a_session_of_continue_is_read_as_it_is_sent() {
    let text = fixture("continue.json");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/continue.txt"));
    let failed: Vec<_> = outcome(text).conversations[0].events.iter().map(|it| it.failed).collect();
    assert_eq!(failed, [false, false, false, false, false, true, true, false, false]);
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
}
