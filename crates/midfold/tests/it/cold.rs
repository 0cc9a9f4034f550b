//! Sessions of doors that wait, whose host says how long the provider's cache keeps a prompt.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::sync::atomic::{AtomicU64, Ordering};

use midfold::blocking::{Session, Start, StorePlace};
use midfold::core::plan::FoldCause;
use midfold::{Door, DoorHost, Policy, RawEvent, Settings, cache_lifetime, injections};
use midfold_testkit::coding_session;

const HOST: DoorHost = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };

/// A clock that goes on by a minute whenever it is looked at.
fn minutes() -> u64 {
    static NOW: AtomicU64 = AtomicU64::new(1_700_000_000_000);
    NOW.fetch_add(60_000, Ordering::Relaxed)
}

/// The causes of the folds of a session that asks for a context after each message. With a store, it is read anew
/// each time.
fn causes(lifetime: Option<u64>, store: Option<&str>) -> Vec<FoldCause> {
    let start = Start {
        settings: Settings {
            window: Some(12_000),
            store: store.map(str::to_owned),
            ..Settings::default()
        },
        cache_lifetime: lifetime,
        ..Start::new(Policy::preset("default").unwrap(), HOST, minutes)
    };
    let mut session = start.open("s".to_owned()).unwrap();
    for message in coding_session(7, 3) {
        let message = RawEvent::new(message.into());
        session.append(vec![message], None, None).unwrap();
        session.context(injections([], []).unwrap(), &[]).unwrap();
        if let Some(url) = store {
            let place = StorePlace::existing(url, HOST.door).unwrap();
            session = Session::load(place, "s", minutes).unwrap();
        }
    }
    session.folds().unwrap().iter().map(|fold| fold.cause).collect()
}

#[test]
fn a_pause_that_is_longer_than_the_lifetime_folds_early() {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    for (cold, warm, none) in [(None, None, None), (Some(url("a")), Some(url("b")), Some(url("c")))]
    {
        let cold = causes(Some(30_000), cold.as_deref());
        assert!(cold.iter().filter(|cause| **cause == FoldCause::Cold).count() >= 2, "{cold:?}");
        for (lifetime, store) in [(Some(3_600_000), warm), (None, none)] {
            let causes = causes(lifetime, store.as_deref());
            let is_warm = causes.iter().all(|cause| *cause == FoldCause::Threshold);
            assert!(!causes.is_empty() && is_warm, "{lifetime:?}: {causes:?}");
        }
    }
}

#[test]
fn a_fork_has_the_lifetime_of_its_session() {
    let start = Start {
        settings: Settings { window: Some(12_000), ..Settings::default() },
        cache_lifetime: Some(1),
        ..Start::new(Policy::preset("default").unwrap(), HOST, minutes)
    };
    let mut fork = start.open("s".to_owned()).unwrap().fork("t", None).unwrap();
    for message in coding_session(7, 3) {
        fork.append(vec![RawEvent::new(message.into())], None, None).unwrap();
        fork.context(injections([], []).unwrap(), &[]).unwrap();
    }
    assert!(fork.folds().unwrap().iter().any(|fold| fold.cause == FoldCause::Cold));
}

#[test]
fn a_lifetime_is_a_length_of_time() {
    assert_eq!(cache_lifetime(300.0).unwrap(), Some(300_000));
    assert_eq!(cache_lifetime(0.5).unwrap(), Some(500));
    assert_eq!(cache_lifetime(0.0).unwrap(), None);
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(cache_lifetime(wrong).unwrap_err().is_usage, "{wrong}");
    }
}
