//! What a terminal gets of a text.

use midfold_cli::inside::{visible, visible_bytes};

#[test]
fn what_a_terminal_obeys_or_hides_is_shown() {
    for (text, shown) in [
        ("plain ä 漢 👩\u{200d}💻 \t and\nmore\r\n", "plain ä 漢 👩\u{200d}💻 \t and\nmore\r\n"),
        ("a\u{1b}[2Jb", "a\\u001b[2Jb"),
        ("over\rwritten\u{8}", "over\\u000dwritten\\u0008"),
        ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
        ("\u{9b}31m", "\\u009b31m"),
        ("user\u{202e}nimda\u{202c}", "user\\u202enimda\\u202c"),
        ("\u{2066}x\u{2069}\u{200e}\u{200f}", "\\u2066x\\u2069\\u200e\\u200f"),
        ("\u{e0041}", "\\udb40\\udc41"),
        // Colours of ours, and some that hide a text.
        ("\u{1b}[31merror:\u{1b}[0m", "\u{1b}[31merror:\u{1b}[0m"),
        ("\u{1b}[8mhidden", "\\u001b[8mhidden"),
    ] {
        assert_eq!(visible(text), shown, "{text:?}");
        assert_eq!(*visible_bytes(text.as_bytes()), *shown.as_bytes(), "{text:?}");
    }
    assert_eq!(*visible_bytes(b"a\x9b\x07b"), *"a\u{fffd}\\u0007b".as_bytes());
}

/// JSON stays the JSON that it is.
#[test]
fn json_says_the_same_when_it_is_shown() {
    let value = serde_json::json!({"name": "a\u{202e}b\u{9b}c\u{e0041}", "n": 1});
    let text = serde_json::to_string_pretty(&value).unwrap();
    let shown = visible(&text);
    assert!(shown.is_ascii() && shown != text);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
}
