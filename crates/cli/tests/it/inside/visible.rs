//! What a terminal gets of a text.

use midfold_cli::inside::{painted, visible, visible_bytes, with_plain_codes};

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
        // Soft hyphens, fillers, tags and selectors carry words that nobody sees.
        ("a\u{ad}b\u{34f}c\u{3164}\u{fe01}", "a\\u00adb\\u034fc\\u3164\\ufe01"),
        ("漢\u{e0101}", "漢\\udb40\\udd01"),
        ("a\u{200d}b ❤\u{fe0f} 1\u{fe0f}\u{20e3}", "a\\u200db ❤\u{fe0f} 1\u{fe0f}\u{20e3}"),
        // Colours of others look like ours, and some hide a text.
        ("\u{1b}[31mRED\u{1b}[0m", "\\u001b[31mRED\\u001b[0m"),
        ("\u{1b}[31;7mRED", "\\u001b[31;7mRED"),
        ("\u{1b}[8mhidden", "\\u001b[8mhidden"),
    ] {
        assert_eq!(visible(text), shown, "{text:?}");
        assert_eq!(*visible_bytes(text.as_bytes()), *shown.as_bytes(), "{text:?}");
    }
    let ours = painted("31", "error: \u{1b}[32mok");
    assert_eq!(visible(&ours), "\u{1b}[31merror: \\u001b[32mok\u{1b}[0m");
    // A file gets the text as it is, and our colours as any program knows them.
    assert_eq!(
        *with_plain_codes(format!("{ours}\u{1b}[1mé").as_bytes()),
        *"\u{1b}[31merror: \u{1b}[32mok\u{1b}[0m\u{1b}[1mé".as_bytes()
    );
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
