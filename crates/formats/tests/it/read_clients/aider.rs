//! The chat history of aider.

use bytes::Bytes;
use midfold_formats::read::{ReadError, TranscriptFormat, detect, read};

use super::{events, fixture, outcome, recorded, told};

#[test]
fn aider_sessions_are_conversations() {
    let text = fixture("aider.md");
    assert_eq!(detect(text.as_bytes()), Some(TranscriptFormat::Aider));
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/aider.txt"));
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 3);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
}

/// An editor may have cut the spaces at the ends of lines.
#[test]
fn aider_lines_without_their_spaces_are_read() {
    let text =
        "# aider chat started at 2026-08-01\n\n#### Do it.\n#### Now.\n\nDone.\n> Commit 1\n";
    let found = outcome(text);
    assert_eq!(
        events(&found.conversations[0]),
        [
            r#"{"role":"user","content":"Do it.\nNow."}"#,
            r#"{"role":"assistant","content":"Done."}"#,
            r#"{"role":"user","content":"Commit 1"}"#,
        ]
    );
}

#[test]
fn other_markdown_is_no_history_of_aiders() {
    let other = Bytes::from_static(b"# Notes\n\n#### Do it.\n");
    assert!(matches!(read(&other, None), Err(ReadError::NotJson { .. })));
    let empty = Bytes::from_static(b" \n");
    assert_eq!(read(&empty, Some(TranscriptFormat::Aider)), Err(ReadError::Empty));
}
