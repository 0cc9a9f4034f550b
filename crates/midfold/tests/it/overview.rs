//! Overviews of sessions, which are kept while a session does not change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::store::single::SingleChange as _;
use midfold::store::{AppendRequest, MemoryStore, NewEvent, NewSession, Store};

#[tokio::test]
async fn an_overview_does_not_outlive_its_session() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let overviews = midfold::view::OverviewCache::new(Arc::clone(&store));
    for (created, title) in [(1, "Mend the pump."), (2, "Paint the door.")] {
        let new = NewSession {
            id: "s".to_owned(),
            dialect: "openai-chat".to_owned(),
            profile: "openai".to_owned(),
            counter: "chars:4".to_owned(),
            created,
            ..NewSession::default()
        };
        store.create(new).await.unwrap();
        let bytes = bytes::Bytes::from(format!(r#"{{"role":"user","content":"{title}"}}"#));
        let hash = midfold::core::Hash::ROOT.chain(&bytes);
        let event = NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None };
        let append = AppendRequest { events: vec![event], ..AppendRequest::default() };
        store.append("s", append).await.unwrap();
        assert_eq!(overviews.one("s").await.unwrap().title.as_deref(), Some(title));
        store.delete("s", None).await.unwrap();
    }
}

#[tokio::test]
async fn the_tokens_of_an_unfolded_session_are_not_added_up_again() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let store = Arc::new(FaultyStore::new(inner, WriteFailure::Before, 0..0));
    let overviews = midfold::view::OverviewCache::new(Arc::clone(&store) as Arc<dyn Store>);
    let id = "s".to_owned();
    let (dialect, counter) = ("openai-chat".to_owned(), "chars:4".to_owned());
    let new =
        NewSession { id, dialect, counter, profile: "openai".to_owned(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let mut hash = midfold::core::Hash::ROOT;
    for seq in 0..3 {
        let bytes = bytes::Bytes::from(r#"{"role":"user","content":"Mend the pump."}"#);
        hash = hash.chain(&bytes);
        let event = NewEvent { bytes, hash, turn: 1, tokens: 1_000, usage: None, origin: None };
        let events = vec![event];
        let append = AppendRequest { expected: seq, events, ..AppendRequest::default() };
        store.append("s", append).await.unwrap();
        // The title is known after the first time, so nothing else is read of the messages.
        let is_read = Arc::new(AtomicBool::new(false));
        let noted = Arc::clone(&is_read);
        store.set_meanwhile("events", async move { noted.store(true, Ordering::SeqCst) });
        let overview = overviews.one("s").await.unwrap();
        assert_eq!(
            (overview.tokens, is_read.load(Ordering::SeqCst)),
            (1_000 * (seq + 1), seq == 0)
        );
        assert!(overview.fill >= overview.tokens, "{overview:?}");
    }
}
