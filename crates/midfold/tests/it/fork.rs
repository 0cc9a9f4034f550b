//! What forks are called, and which one is found again.

use std::sync::{Arc, Mutex};

use midfold::blocking::{Session, Sessions, Start};
use midfold::inside::fork::{id, is_of};
use midfold::{Door, DoorHost, Policy, RawEvent, Settings};

#[test]
fn a_fork_of_a_fork_is_one_of_the_same_session() {
    let fork = id("a~b", "0123456789abcdef");
    assert_eq!(fork, "a~b~0123456789ab");
    assert_eq!(id(&fork, "fedcba9876543210"), "a~b~fedcba987654");
    assert!(is_of(&fork, "a~b") && !is_of(&fork, "a") && !is_of("a~b", "a~b"));
}

/// All forks here have the same time, as they may have within one millisecond.
#[test]
fn the_newest_fork_is_found_where_the_clock_stands_still() {
    let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
    let settings = Settings { store: Some("memory".to_owned()), ..Settings::default() };
    let start = Start { settings, ..Start::new(Policy::preset("default").unwrap(), host, || 0) };
    // With room for one conversation, each call finds the session of its id in the store.
    let sessions = Sessions::new(start, 1, |session| Arc::new(Mutex::new(session)));
    let said =
        |text: &str| RawEvent::new(format!(r#"{{"role":"user","content":"{text}"}}"#).into());
    let id_of = |session: &Mutex<Session>| session.lock().unwrap().id().to_owned();
    for turn in 0..6 {
        // The last message is another one each time, so the list goes back.
        let list = [said("a"), said(&format!("turn {turn}"))];
        let (session, _) = sessions.project(Some("s"), &list, None).unwrap();
        sessions.project(Some("other"), &[said("x")], None).unwrap();
        let again = sessions.find(Some("s"), &[]).unwrap().unwrap();
        assert_eq!(id_of(&again), id_of(&session), "turn {turn}");
        assert_eq!(is_of(&id_of(&again), "s"), turn > 0);
    }
}
