//! When messages were recorded, where the file of a client says it.

use super::{FIXTURES, fixture, outcome};

/// So many messages, and so many whose time is known.
#[test]
fn messages_know_when_they_were_recorded_where_the_file_says_so() {
    let timed = |text: &str| {
        let found = outcome(text);
        let events = found.conversations.iter().flat_map(|it| &it.events);
        let known = events.clone().filter(|event| event.at.is_some());
        (events.count(), known.count())
    };
    let all: Vec<_> = FIXTURES.iter().map(|fixture| (fixture.name, timed(fixture.text))).collect();
    assert_eq!(all, []);
    let _ = fixture("droid.jsonl");
}
