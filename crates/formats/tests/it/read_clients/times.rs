//! When messages were recorded, where the file of a client says it.

use super::{FIXTURES, fixture, outcome};

/// So many messages, and so many whose time is known.
fn known(text: &str) -> (usize, usize) {
    let found = outcome(text);
    let events: Vec<_> = found.conversations.iter().flat_map(|it| &it.events).collect();
    (events.len(), events.iter().filter(|event| event.at.is_some()).count())
}

#[test]
fn messages_know_when_they_were_recorded_where_their_client_writes_it() {
    // Cursor and Inspect write none with a message; what is beside the messages has none either.
    let some = [
        ("openhands-old.json", (15, 13)),
        ("hermes.jsonl", (14, 12)),
        // The summary of a compaction has none.
        ("cline-session.jsonl", (5, 4)),
    ];
    let none = [
        "inspect.json",
        "aider.md",
        "cursor.jsonl",
        "cursor-stream.jsonl",
        "kimi-context.jsonl",
        "continue.json",
    ];
    for it in FIXTURES {
        let (all, timed) = known(it.text);
        let wanted = match some.iter().find(|(name, _)| *name == it.name) {
            Some((_, wanted)) => *wanted,
            None if none.contains(&it.name) => (all, 0),
            None => (all, all),
        };
        assert_eq!((all, timed), wanted, "{}", it.name);
    }
}

#[test]
fn a_time_is_in_milliseconds_however_a_client_counts() {
    let first = |name: &str| outcome(fixture(name)).conversations[0].events[0].at;
    // The summary of `2026-07-01T10:01:00.000Z`; then seconds.
    assert_eq!(first("droid.jsonl"), Some(1_782_900_060_000));
    assert_eq!(first("goose.jsonl"), Some(1_740_000_001_000));
    assert_eq!(first("kimi-wire.jsonl"), Some(1_500));
}
