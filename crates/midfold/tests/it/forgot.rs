//! A text in all sessions: which have it, and where the next page begins.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold::core::explain::Sight;
use midfold::store::single::SingleChange as _;
use midfold::store::{AppendRequest, MemoryStore, NewEvent, NewSession, SessionMeta, Store};
use midfold::view::{ForgottenText, OverviewCache, has_text};

async fn stored(sessions: usize) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for at in 0..sessions {
        let message = r#"{"role":"user","content":"a zebra (1+1); write to me @1"}"#;
        add(&store, &format!("s{at}"), None, message).await;
    }
    store
}

/// Adds a session of one message.
async fn add(store: &Arc<dyn Store>, id: &str, source: Option<&str>, message: &'static str) {
    let meta = SessionMeta {
        budget: midfold::Budget::new(16_000),
        envelope: Vec::new(),
        parent: None,
        source: source.map(str::to_owned),
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    let new = NewSession {
        id: id.to_owned(),
        dialect: "openai-chat".to_owned(),
        profile: "openai".to_owned(),
        counter: "chars:4".to_owned(),
        meta: serde_json::to_string(&meta).unwrap(),
        policy: midfold::Policy::preset("default").unwrap().to_toml(),
        ..NewSession::default()
    };
    store.create(new).await.unwrap();
    let bytes = bytes::Bytes::from(message);
    let hash = midfold::core::Hash::ROOT.chain(&bytes);
    let event = NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None };
    let append = AppendRequest { events: vec![event], ..AppendRequest::default() };
    store.append(id, append).await.unwrap();
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

#[tokio::test]
async fn the_name_of_a_tool_is_no_text_of_a_message() {
    let store = stored(1).await;
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"lion_tool","arguments":"{}"}}]}"#;
    add(&store, "called", None, call).await;
    assert!(has_text(&*store, "called", "lion_tool").await.unwrap());
    assert_eq!(asked(&store, "lion_tool", None).await.found, []);
    assert_eq!(asked(&store, "@+1", None).await.found, [], "it is no number of a message");
}

#[tokio::test]
async fn only_an_imported_session_is_read_by_its_client() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for (id, source) in [("made", None), ("sent", Some("api")), ("read", Some("run.jsonl"))] {
        add(&store, id, source, r#"{"role":"user","content":"a zebra"}"#).await;
    }
    let found = asked(&store, "zebra", None).await.found;
    let by_client = found.iter().map(|one| {
        let is_transcript = matches!(one.explanation.occurrences[0].sight, Sight::Transcript);
        (one.session.id.as_str(), is_transcript)
    });
    let mut by_client: Vec<_> = by_client.collect();
    by_client.sort_unstable();
    assert_eq!(by_client, [("made", false), ("read", true), ("sent", false)]);
}
