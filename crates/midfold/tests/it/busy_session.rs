//! What a host's other calls do while one of its sessions is busy.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use midfold::blocking::{Session, Sessions, Start};
use midfold::{Door, DoorHost, Policy, RawEvent, Settings};

/// How often a session was looked at.
static LOOKS: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone)]
struct WatchedHandle(Arc<Mutex<Session>>);

impl AsRef<Mutex<Session>> for WatchedHandle {
    fn as_ref(&self) -> &Mutex<Session> {
        LOOKS.fetch_add(1, Ordering::SeqCst);
        &self.0
    }
}

/// A call without an id waits for the session that it is compared with. Nobody else waits for the call.
#[test]
fn a_busy_session_keeps_no_other_id_waiting() {
    let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
    let settings = Settings { window: Some(8_000), ..Settings::default() };
    let start = Start { settings, ..Start::new(Policy::preset("default").unwrap(), host, || 0) };
    let sessions = Sessions::new(start, 8, |session| WatchedHandle(Arc::new(Mutex::new(session))));
    let list =
        |text: &str| [RawEvent::new(format!(r#"{{"role":"user","content":"{text}"}}"#).into())];
    sessions.project(Some("b"), &list("b"), None).unwrap();
    let (busy, _) = sessions.project(Some("a"), &list("a"), None).unwrap();
    std::thread::scope(|scope| {
        let guard = busy.0.lock().unwrap();
        let before = LOOKS.load(Ordering::SeqCst);
        let without_id = scope.spawn(|| sessions.project(None, &list("a"), None).unwrap().0);
        while LOOKS.load(Ordering::SeqCst) == before {
            std::thread::yield_now();
        }
        sessions.project(Some("b"), &list("b"), None).unwrap();
        drop(guard);
        assert!(Arc::ptr_eq(&without_id.join().unwrap().0, &busy.0));
    });
}
