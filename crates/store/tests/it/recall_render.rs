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
fn nothing_moves_a_cursor() {
    assert_eq!(
        clean("a\x1b[31;1mred\x1b[0m\tb\r\nc\x07\x1b]0;t\x1b["),
        "ared\tb\nc\u{fffd}\u{fffd}]0;t"
    );
}

#[test]
fn neighbours_are_a_range() {
    assert_eq!(list(&[3, 4, 5, 9]), "@3-@5, @9");
    assert_eq!(list(&(0..20).map(|n| n * 2).collect::<Vec<_>>()).matches('@').count(), RUNS);
}
