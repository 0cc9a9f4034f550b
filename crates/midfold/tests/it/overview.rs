//! Overviews of sessions, which are kept while a session does not change.

use std::sync::Arc;

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
