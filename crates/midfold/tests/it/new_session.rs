//! What a start leaves in the store where it fails half-way.

use std::sync::{Arc, Mutex};

use midfold::blocking::{Session, Sessions, Start, StorePlace};
use midfold::store::MemoryStore;
use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::{Door, DoorHost, Policy, RawEvent, Settings};

#[test]
fn a_new_session_that_is_not_whole_leaves_its_id_free() {
    // One write makes the session, with the state that names its model and with its system prompt.
    let cases = [None, Some("m")];
    let failures = [WriteFailure::Before, WriteFailure::After];
    for (failure, model) in failures.into_iter().flat_map(|it| cases.map(|case| (it, case))) {
        let store = FaultyStore::new(Arc::new(MemoryStore::new()), failure, 0..1);
        let place = StorePlace::over(Arc::new(store), Door::Command).unwrap();
        let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
        let start = Start {
            system: Some(br#""Be brief.""#.as_slice().into()),
            settings: Settings { model: model.map(str::to_owned), ..Settings::default() },
            ..Start::new(Policy::preset("default").unwrap(), host, || 0)
        };
        let failed = start.clone().open_in("s".to_owned(), Some(place.clone()));
        let failed = failed.err().unwrap().to_string();
        assert!(failed.contains("disk is full"), "{failed}");
        // Where only the answer was lost, the session is there as a whole.
        let session = match failure {
            WriteFailure::Before => start.open_in("s".to_owned(), Some(place)).unwrap(),
            WriteFailure::After => Session::load(place, "s", || 0).unwrap(),
        };
        assert_eq!(session.len(), 1, "{failure:?} {model:?}");
    }
}

/// A session fills alike wherever it is: what `chars:4` counts too few of is known before the provider counts.
#[test]
fn a_session_in_memory_fills_as_one_in_a_store() {
    let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
    let settings = Settings {
        window: Some(8_000),
        tokenizer: Some("chars:4".to_owned()),
        ..Settings::default()
    };
    let start = Start { settings, ..Start::new(Policy::preset("default").unwrap(), host, || 0) };
    let store = StorePlace::over(Arc::new(MemoryStore::new()), Door::Command).unwrap();
    let [alone, stored] = [None, Some(store)].map(|place| {
        let mut session = start.clone().open_in("s".to_owned(), place).unwrap();
        let words = "word ".repeat(900);
        let message = format!(r#"{{"role":"user","content":"{words}"}}"#);
        session.append(vec![RawEvent::new(message.into())], None, None).unwrap();
        let status = session.status().unwrap();
        (status.meter, status.context_tokens)
    });
    assert_eq!(alone, stored);
}

#[test]
fn what_a_host_changed_outlives_that_its_session_was_let_go() {
    let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
    let settings = Settings {
        window: Some(64_000),
        model: Some("first".to_owned()),
        store: Some("memory".to_owned()),
        ..Settings::default()
    };
    let start = Start { settings, ..Start::new(Policy::preset("default").unwrap(), host, || 0) };
    let sessions = Sessions::new(start, 1, |session| Arc::new(Mutex::new(session)));
    let list = [RawEvent::new(r#"{"role":"user","content":"hi"}"#.into())];
    let (one, _) = sessions.project(Some("one"), &list, None).unwrap();
    one.lock().unwrap().update_model("second", Some(32_000)).unwrap();
    drop(one);
    sessions.project(Some("two"), &list, None).unwrap();
    let (one, _) = sessions.project(Some("one"), &list, None).unwrap();
    let status = one.lock().unwrap().status().unwrap();
    assert_eq!((status.context_length, &status.model[..]), (32_000, "second"));
}
