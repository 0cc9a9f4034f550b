//! What recall brought back, as text.

use midfold_store::inside::{RUNS, clean, headline, list, push_repeats};
use midfold_store::recall::{Original, OriginalPage, page_text};

fn original(event: u64, same_as: Option<u64>) -> Original {
    Original { event, role: "tool".into(), same_as, text: "x".into(), ..Original::default() }
}

#[test]
fn repeats_of_a_step_are_one_line() {
    let mut originals = vec![original(12, None), original(13, None)];
    originals.extend((14..172).map(|at| original(at, Some(12 + at % 2))));
    originals.extend([original(172, Some(12)), original(173, None)]);
    let shown = page_text(&OriginalPage { originals, next: None });
    let repeats: Vec<_> = shown.lines().filter(|line| line.contains("same")).collect();
    assert_eq!(repeats, ["── @14-@171: same as @12-@13, 79 times", "── @172: same as @12"]);
    let three = [original(9, Some(1)), original(10, Some(1)), original(11, Some(1))];
    let mut out = String::new();
    push_repeats(&mut out, &three);
    assert_eq!(out, "── @9-@11: same as @1, 3 times\n");
}

#[test]
fn parts_say_which_characters_they_are() {
    let part = Original { chars: 12_345, offset: 4_000, cut: true, ..original(3, None) };
    assert_eq!(headline(&part, None), "@3 tool, characters 4,000 to 4,001 of 12,345");
}

#[test]
fn repeats_name_no_message_between_them() {
    let shown = |repeats: &[Original]| {
        let mut out = String::new();
        push_repeats(&mut out, repeats);
        out
    };
    let apart: Vec<_> = [6, 9, 12, 15].map(|at| original(at, Some(3))).into();
    assert_eq!(shown(&apart), "── @6, @9, @12, @15: same as @3, 4 times\n");
    let steps: Vec<_> =
        [(5, 2), (6, 3), (8, 2), (9, 3)].map(|(at, of)| original(at, Some(of))).into();
    assert_eq!(shown(&steps), "── @5-@6, @8-@9: same as @2-@3, 2 times\n");
}

#[test]
fn a_hint_is_no_part_of_the_text() {
    let text = "one\ntwo\n".to_owned();
    let hint = "… (it goes on at 3:L105)".to_owned();
    let part = Original { chars: 5_000, offset: 225, text, hint, ..original(3, None) };
    assert_eq!(headline(&part, None), "@3 tool, characters 225 to 233 of 5,000");
    let shown = page_text(&OriginalPage { originals: vec![part], next: None });
    assert!(shown.ends_with("\none\ntwo\n… (it goes on at 3:L105)\n"), "{shown}");
}

#[test]
fn nothing_moves_a_cursor() {
    assert_eq!(
        clean("a\x1b[31;1mred\x1b[0m\tb\r\nc\x07\x1b]0;t\x1b["),
        "ared\tb\nc\u{fffd}\u{fffd}]0;t"
    );
    assert_eq!(clean("\x1b[38:2:255:0:0mred\x1b[>4;2m \x1b]8;;http://a\x1b\\link"), "red link");
}

#[test]
fn carriage_returns_lose_no_line() {
    let text_of = |role: &str, text: &str| {
        let one = Original { role: role.into(), text: text.into(), ..original(3, None) };
        let shown = page_text(&OriginalPage { originals: vec![one], next: None });
        shown.split_once('\n').unwrap().1.to_owned()
    };
    // Logs that went through two terminals.
    assert_eq!(text_of("tool", "line one\r\r\nline two\r\r\n"), "line one\nline two\n");
    assert_eq!(text_of("tool", "a 10%\ra 100%\r"), "a 100%\n");
    // Words are on no terminal, so nothing overwrites them.
    assert_eq!(text_of("user", "mac1\rmac2\r"), "mac1\nmac2\n");
    assert_eq!(text_of("user", "one\r\r\ntwo"), "one\ntwo\n");
}

#[test]
fn neighbours_are_a_range() {
    assert_eq!(list(&[3, 4, 5, 9]), "@3-@5, @9");
    assert_eq!(list(&(0..20).map(|n| n * 2).collect::<Vec<_>>()).matches('@').count(), RUNS);
}
