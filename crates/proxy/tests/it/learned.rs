//! What providers say of their windows, as it is remembered.

use midfold::DialectKind;
use midfold::core::event::Usage;
use midfold_proxy::inside::{LearnedWindows, MOST, WindowNews, WindowOwner, WindowReport};

fn source(scope: &str, kind: DialectKind) -> WindowOwner {
    WindowOwner::new((scope, ""), kind, "m", None)
}

#[test]
fn a_window_is_of_whoever_was_told_and_rises_with_what_is_taken() {
    let mut learned = LearnedWindows::default();
    let (mine, told) =
        (source("a", DialectKind::OpenAiChat), WindowReport { window: 8_000, counts_reply: false });
    learned.note_refused(&mine, told);
    assert_eq!(learned.of(&source("b", DialectKind::OpenAiChat)), None);
    assert_eq!(learned.of(&source("a", DialectKind::Anthropic)), None);
    assert_eq!(learned.of(&source("a", DialectKind::OpenAiResponses)), Some(told));
    learned.note_accepted(&mine, Usage { prompt: 7_000, output: 100, ..Usage::default() }, None);
    assert_eq!(learned.of(&mine), Some(told));
    learned.note_accepted(&mine, Usage { prompt: 9_000, output: 100, ..Usage::default() }, None);
    assert_eq!(learned.of(&mine).unwrap().window, 9_000);
}

/// Gemini's limit is of the prompt alone: a long answer says nothing of it.
#[test]
fn an_answer_raises_only_a_window_that_it_is_in() {
    let usage = Usage { prompt: 7_600, output: 3_000, ..Usage::default() };
    for (counts_reply, window) in [(false, 8_000), (true, 10_600)] {
        let mut learned = LearnedWindows::default();
        let mine = source("a", DialectKind::Gemini);
        learned.note_refused(&mine, WindowReport { window: 8_000, counts_reply });
        learned.note_accepted(&mine, usage, None);
        assert_eq!(learned.of(&mine).unwrap().window, window);
    }
}

/// Of a window that nobody reported, nobody knows whether an answer is in it.
#[test]
fn an_answer_raises_no_guess() {
    let mut learned = LearnedWindows::default();
    let mine = source("a", DialectKind::Gemini);
    let took = |prompt| Usage { prompt, output: 3_000, ..Usage::default() };
    learned.note_accepted(&mine, took(7_600), Some(8_000));
    assert_eq!(learned.largest_accepted(&mine), None);
    learned.note_accepted(&mine, took(8_100), Some(8_000));
    learned.note_accepted(&mine, took(8_050), Some(8_000));
    assert_eq!(learned.largest_accepted(&mine), Some(8_100));
}

#[test]
fn no_more_windows_are_remembered_than_there_is_room_for() {
    let mut learned = LearnedWindows::default();
    let told = WindowReport { window: 8_000, counts_reply: false };
    let of = |n: usize| WindowOwner::new(("", ""), DialectKind::OpenAiChat, &n.to_string(), None);
    (0..MOST + 10).for_each(|n| learned.note_refused(&of(n), told));
    assert_eq!((learned.of(&of(9)), learned.of(&of(10))), (None, Some(told)));
}

/// Nothing of a forgotten owner stays behind, so the store, which has the window, is asked again.
#[test]
fn a_forgotten_window_is_looked_up_again() {
    let mut learned = LearnedWindows::default();
    let told = WindowReport { window: 8_000, counts_reply: false };
    let of = |n: usize| WindowOwner::new(("", ""), DialectKind::OpenAiChat, &n.to_string(), None);
    learned.note_looked_up(&of(0), Some(told));
    learned.note_cut(&of(0), 4_000);
    assert!(!learned.is_to_be_looked_up(&of(0)));
    (1..=MOST).for_each(|n| learned.note_refused(&of(n), told));
    assert!(learned.is_to_be_looked_up(&of(0)));
    assert_eq!((learned.of(&of(0)), learned.cut(&of(0))), (None, None));
    let (key, news, _) = learned.next_news().unwrap();
    assert_eq!((key, news), (of(1).key(), WindowNews::Told));
}

#[test]
fn what_a_store_does_not_know_is_written_once_as_it_is_by_then() {
    let mut learned = LearnedWindows::default();
    let mine = source("a", DialectKind::OpenAiChat);
    let took = |prompt| Usage { prompt, ..Usage::default() };
    let told = |window| WindowReport { window, counts_reply: false };
    learned.note_refused(&mine, told(8_000));
    learned.note_accepted(&mine, took(9_000), None);
    assert_eq!(learned.next_news(), Some((mine.key(), WindowNews::Told, told(9_000))));
    learned.note_accepted(&mine, took(8_500), None);
    assert_eq!(learned.next_news(), None, "it is no larger");
    learned.note_accepted(&mine, took(9_500), None);
    let (key, news, _) = learned.next_news().unwrap();
    assert_eq!(news, WindowNews::Raised);
    // The store was away, and meanwhile more was learned.
    learned.note_refused(&mine, told(4_000));
    learned.put_back(key, news);
    assert_eq!(learned.next_news(), Some((key, WindowNews::Told, told(4_000))));
    learned.note_accepted(&mine, took(5_000), None);
    learned.put_back(key, WindowNews::Told);
    assert_eq!(learned.next_news(), Some((key, WindowNews::Told, told(5_000))));
    assert_eq!(learned.next_news(), None);
}

#[test]
fn a_store_is_asked_once_and_changes_nothing_that_is_known() {
    let mut learned = LearnedWindows::default();
    let (one, two) = (source("a", DialectKind::OpenAiChat), source("b", DialectKind::OpenAiChat));
    let told = |window| Some(WindowReport { window, counts_reply: true });
    assert!(learned.is_to_be_looked_up(&one));
    learned.note_looked_up(&one, None);
    assert!(!learned.is_to_be_looked_up(&one));
    assert!(learned.is_to_be_looked_up(&two));
    learned.note_looked_up(&two, told(8_000));
    learned.note_looked_up(&two, told(9_000));
    assert_eq!(learned.of(&two), told(8_000));
    assert_eq!(learned.next_news(), None, "the store has it");
    learned.note_accepted(&two, Usage { prompt: 8_001, ..Usage::default() }, None);
    assert_eq!(learned.next_news(), Some((two.key(), WindowNews::Raised, told(8_001).unwrap())));
}

#[test]
fn a_source_is_found_by_all_that_it_is_and_read_by_nobody() {
    let of =
        |scope, upstream, kind, model| WindowOwner::new((scope, upstream), kind, model, None).key();
    let chat = DialectKind::OpenAiChat;
    let one = of("a", "b", chat, "c");
    assert_eq!(one, of("a", "b", DialectKind::OpenAiResponses, "c"), "one server answers both");
    for other in [
        of("ab", "", chat, "c"),
        of("a", "", chat, "bc"),
        of("a", "b", DialectKind::Anthropic, "c"),
        of("a", "b", chat, "d"),
    ] {
        assert_ne!(one, other);
    }
}
