//! What providers say of their windows, as it is remembered.

use midfold::DialectKind;
use midfold::core::event::Usage;
use midfold::inside::{Learned, MOST, Source, Told};

fn source(scope: &str, kind: DialectKind) -> Source {
    Source::new((scope, ""), kind, "m")
}

#[test]
fn a_window_is_of_whoever_was_told_and_rises_with_what_is_taken() {
    let mut learned = Learned::default();
    let (mine, told) =
        (source("a", DialectKind::OpenAiChat), Told { window: 8_000, counts_reply: false });
    learned.refused(&mine, told);
    assert_eq!(learned.of(&source("b", DialectKind::OpenAiChat)), None);
    assert_eq!(learned.of(&source("a", DialectKind::Anthropic)), None);
    assert_eq!(learned.of(&source("a", DialectKind::OpenAiResponses)), Some(told));
    learned.accepted(&mine, Usage { prompt: 7_000, output: 100, ..Usage::default() }, None);
    assert_eq!(learned.of(&mine), Some(told));
    learned.accepted(&mine, Usage { prompt: 9_000, output: 100, ..Usage::default() }, None);
    assert_eq!(learned.of(&mine).unwrap().window, 9_100);
}

#[test]
fn no_more_windows_are_remembered_than_there_is_room_for() {
    let mut learned = Learned::default();
    let told = Told { window: 8_000, counts_reply: false };
    let of = |n: usize| Source::new(("", ""), DialectKind::OpenAiChat, &n.to_string());
    (0..MOST + 10).for_each(|n| learned.refused(&of(n), told));
    assert_eq!((learned.of(&of(9)), learned.of(&of(10))), (None, Some(told)));
}
