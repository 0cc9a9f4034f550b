//! Which session a word means.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::sync::Arc;

use midfold::store::single::SingleChange as _;
use midfold::store::{MemoryStore, NewSession, Store};
use midfold::{Door, find_session, session_named};

async fn with_sessions(ids: &[&str]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for id in ids {
        let new = NewSession {
            id: (*id).to_owned(),
            dialect: "openai-chat".to_owned(),
            profile: "openai".to_owned(),
            counter: "chars:4".to_owned(),
            ..NewSession::default()
        };
        store.create(new).await.unwrap();
    }
    store
}

#[tokio::test]
async fn an_id_is_found_without_its_beginning_and_without_its_end() {
    let store = with_sessions(&["proxy-abc123", "proxy-abc1234", "proxy-prod", "abd", "ab"]).await;
    let rows: [(&str, &[&str]); 8] = [
        ("proxy-abc123", &["proxy-abc123"]),
        ("abc123", &["proxy-abc123"]),
        ("abc12", &["proxy-abc123", "proxy-abc1234"]),
        ("abc1234", &["proxy-abc1234"]),
        // One of them begins with the word, and with `proxy-` and the word.
        ("pro", &["proxy-abc123", "proxy-abc1234", "proxy-prod"]),
        ("abd", &["abd"]),
        ("ab", &["ab"]),
        ("a", &[]),
    ];
    for (word, ids) in rows {
        assert_eq!(find_session(&*store, word).await.unwrap(), ids, "{word}");
    }
}

#[tokio::test]
async fn an_ambiguous_word_lists_five_ids_once() {
    let ids: Vec<String> =
        (0..9).flat_map(|n| [format!("run{n}"), format!("proxy-run{n}")]).collect();
    let store = with_sessions(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(find_session(&*store, "run").await.unwrap().len(), 6);
    let failure = session_named(&store, "run", Door::Command).await.unwrap_err();
    assert_eq!(failure.hints.len(), 6, "{failure:?}");
}
