//! What is committed is what the generators make.

use std::path::Path;

use midfold_testkit::{CONSTRAINT, big_messages, coding_session, fixtures, hostile};

#[test]
fn committed_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for fixture in fixtures() {
        let found = std::fs::read_to_string(root.join(fixture.path)).unwrap_or_default();
        assert!(
            found == fixture.content,
            "{} is not what the generator makes: run \
             `cargo run -p midfold-testkit --example make_fixtures`",
            fixture.path
        );
    }
}

#[test]
fn the_example_is_long_enough_to_compact() {
    let all = fixtures();
    let example = all.iter().find(|f| f.path == "examples/coding-session.jsonl").unwrap();
    let messages = example.content.lines().count();
    assert!((270..=340).contains(&messages), "{messages} messages");
    let bytes = example.content.len();
    assert!((480_000..=620_000).contains(&bytes), "{bytes} bytes");
    assert_eq!(example.content.matches(CONSTRAINT).count(), 1);
}

#[test]
fn generators_are_deterministic_json() {
    assert_eq!(coding_session(3, 4), coding_session(3, 4));
    assert_ne!(coding_session(3, 4), coding_session(4, 4));
    for seed in 0..50 {
        let messages = hostile(seed, 1000);
        assert_eq!(messages, hostile(seed, 1000));
        for message in messages {
            let checked = serde_json::from_str::<&serde_json::value::RawValue>(&message);
            assert!(checked.is_ok(), "{message:.200}");
        }
    }
}

#[test]
fn big_conversations_have_their_size() {
    let messages = big_messages(2_000, 3_400_000);
    assert_eq!(messages.len(), 2_000);
    let bytes: usize = messages.iter().map(String::len).sum();
    assert!((3_000_000..=3_900_000).contains(&bytes), "{bytes} bytes");
}
