//! A store with a folded session in it.

use std::sync::Arc;

use midfold::core::budget::Budget;
use midfold::core::event::RawEvent;
use midfold::store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession};
use midfold::{PlanOutcome, Policy};

use crate::canned::NOW;

pub async fn store() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = SessionMeta {
        budget: Budget::new(8_000),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: Some("gpt-5".to_owned()),
        client: None,
        cache_lifetime: None,
    };
    let new = NewSession {
        id: "a/b c".into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:4".into(),
        policy: Policy::preset("default").unwrap().to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: NOW - 60_000,
    };
    let mut stored = StoredSession::create(store.clone(), new).await.unwrap();
    let lines = midfold_testkit::coding_session(7, 12);
    let events = lines.into_iter().map(|line| RawEvent::new(line.into())).collect();
    stored.append(events, None, NOW - 30_000).await.unwrap();
    let outcome = stored.compact(None, NOW - 10_000).await.unwrap();
    assert!(matches!(outcome, PlanOutcome::Folded(_)), "{outcome:?}");
    store
}
