//! A text in all sessions: which have it, and where the next page begins.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold::store::single::SingleChange as _;
use midfold::store::{AppendRequest, MemoryStore, NewEvent, NewSession, SessionMeta, Store};
use midfold::view::{ForgottenText, OverviewCache, has_text};

async fn stored(sessions: usize) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = SessionMeta {
        budget: midfold::Budget::new(16_000),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    for at in 0..sessions {
        let id = format!("s{at}");
        let new = NewSession {
            id: id.clone(),
            dialect: "openai-chat".to_owned(),
            profile: "openai".to_owned(),
            counter: "chars:4".to_owned(),
            meta: serde_json::to_string(&meta).unwrap(),
            policy: midfold::Policy::preset("default").unwrap().to_toml(),
            ..NewSession::default()
        };
        store.create(new).await.unwrap();
        let bytes =
            bytes::Bytes::from(r#"{"role":"user","content":"a zebra (1+1); write to me @1"}"#);
        let hash = midfold::core::Hash::ROOT.chain(&bytes);
        let event = NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None };
        let append = AppendRequest { events: vec![event], ..AppendRequest::default() };
        store.append(&id, append).await.unwrap();
    }
    store
}

async fn asked(store: &Arc<dyn Store>, text: &str, before: Option<u64>) -> ForgottenText {
    let overviews = OverviewCache::new(Arc::clone(store));
    ForgottenText::ask(store, &overviews, None, text, before).await.unwrap()
}

#[tokio::test]
async fn a_text_is_found_in_either_case_in_all_sessions() {
    let store = stored(2).await;
    for text in ["zebra", "ZEBRA", "Zebra (1+1)"] {
        assert!(has_text(&*store, "s0", text).await.unwrap(), "{text}");
        assert_eq!(asked(&store, text, None).await.found.len(), 2, "{text}");
    }
    assert!(!has_text(&*store, "s0", "zebra.*me").await.unwrap());
    // A number means another message in each session.
    let overviews = OverviewCache::new(Arc::clone(&store));
    let refused = ForgottenText::ask(&store, &overviews, None, "@1", None).await;
    assert!(refused.unwrap_err().to_string().contains("ask about that session"));
}

#[tokio::test]
async fn the_last_page_has_no_next_one() {
    let store = stored(20).await;
    let page = asked(&store, "zebra", None).await;
    assert_eq!((page.found.len(), page.looked_at, page.next), (20, 20, None));
    let store = stored(21).await;
    let page = asked(&store, "zebra", None).await;
    assert_eq!((page.found.len(), page.looked_at), (20, 20));
    let last = asked(&store, "zebra", page.next).await;
    assert_eq!((last.found.len(), last.next), (1, None));
    // As many sessions as one answer searches.
    let store = stored(200).await;
    let page = asked(&store, "giraffe", None).await;
    assert_eq!((page.looked_at, page.next), (200, None));
}
