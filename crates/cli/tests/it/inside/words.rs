//! Texts that are safe to print, and times.

use midfold_cli::inside::words::{line, printable, time};

#[test]
fn what_is_printed_moves_no_cursor() {
    assert_eq!(
        printable("a\x1b[31;1mred\x1b[0m\tb\nc\x07\x1b]0;t"),
        "ared\tb\nc\u{fffd}\u{fffd}]0;t"
    );
    assert_eq!(printable("\x1b]0;title\x07a\x1b(B\x1b[>4;2mb"), "ab");
    assert_eq!(line("  a\r\n  b\x1b[2Kc é", 20), "a bc é");
    assert_eq!(line("one two three", 8), "one two…");
    assert_eq!(line("\x1b[é", 8), "é");
}

#[test]
fn times() {
    assert_eq!(time(1_795_315_211_999), "2026-11-22 02:40:11 UTC");
}
