//! What a transcript holds moves no cursor and turns no line around.

use midfold_top::{Clean, CleanText};

#[test]
fn what_moves_a_cursor_is_left_out() {
    let hostile = "a\x1b[31;1mred\x1b[0m\tb\r\nc\x07\x1b]0;t\u{9b}2Jd\u{85}e\x7f";
    assert_eq!(Clean::new(hostile).as_str(), "ared b c]0;tde");
    assert_eq!(CleanText::new(hostile).lines().collect::<Vec<_>>(), ["ared b", "c]0;tde"]);
}

#[test]
fn sequences_of_each_kind_are_left_out() {
    let hostile = "m-\x1b]0;pwn\x07A\x1b(B\x1b[38:2:9:9:9mC\x1b[>4;2mD\x1b[200~E\x1bPq\x1b\\F\u{9d}0;t\u{9c}G";
    assert_eq!(Clean::new(hostile).as_str(), "m-ACDEFG");
}

#[test]
fn what_turns_text_around_is_left_out() {
    let hostile = "\u{202e}gpj.exe\u{2066}x\u{200b}\u{feff}\u{e0041}é漢";
    assert_eq!(Clean::new(hostile).as_str(), "gpj.exexé漢");
    let hidden = "a\u{ad}b\u{34f}c\u{3164}d\u{200d}e\u{e0101} 👩\u{200d}💻";
    assert_eq!(Clean::new(hidden).as_str(), "abcde 👩\u{200d}💻");
}

#[test]
fn an_escape_at_the_end_takes_nothing_with_it() {
    assert_eq!(Clean::new("é\x1bx\x1b").as_str(), "éx");
    assert_eq!(Clean::new("\x1b[é").as_str(), "é");
}
