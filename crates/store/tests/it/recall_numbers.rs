//! The line in the place of a result names its message, and recall shows that message whole.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_core::project::PieceFate;
use midfold_store::recall::{FOUND_CHARS, FindRequest, find, show};
use midfold_store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession};
use serde_json::Value;

async fn folded(store: Arc<dyn Store>) -> StoredSession {
    let meta = SessionMeta {
        budget: Budget::new(24_000),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    let new = NewSession {
        id: "s".into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:3.2".into(),
        policy: Policy::preset("verbatim").unwrap().to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 1,
    };
    let mut stored = StoredSession::create(store, new).await.unwrap();
    let lines = midfold_testkit::coding_session(11, 6);
    let events = lines.into_iter().map(|line| RawEvent::new(line.into())).collect();
    stored.append(events, None, 1).await.unwrap();
    assert!(matches!(stored.compact(None, 1).await.unwrap(), PlanOutcome::Folded(_)));
    stored
}

#[tokio::test]
async fn a_line_names_the_message_that_recall_shows_whole() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut stored = folded(store.clone()).await;
    let context = stored.context(false, 2).await.unwrap().context;
    let whole = stored.whole().await.unwrap();
    let mut shown = 0;
    for piece in context.pieces() {
        let PieceFate::Edited(seq) = piece.fate else { continue };
        let message: Value = serde_json::from_slice(&piece.bytes).unwrap();
        let Some((_, number)) = message["content"].as_str().and_then(|line| line.rsplit_once(' '))
        else {
            continue;
        };
        if message["role"] != "tool" {
            continue;
        }
        let event = &whole.log().events()[seq as usize];
        let text = event.view.blocks[0].text(&event.bytes);
        // Recall leaves out colours.
        let plain = |line: &&str| !line.trim().is_empty() && !line.contains('\u{1b}');
        let last = text.lines().rev().find(plain).unwrap();
        let page = show(&*store, "s", number, 100_000).await.unwrap();
        assert!(page.text.contains(last), "{number}: {}", page.text);
        shown += 1;
    }
    assert!(shown > 20, "{shown}");
}

/// A result that became a line is not in front of the agent any more.
#[tokio::test]
async fn a_shortened_result_is_found_as_one_that_went() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    folded(store.clone()).await;
    let ask = FindRequest { query: "rootdir platform".into(), ..FindRequest::default() };
    let page = find(&*store, "s", &ask, FOUND_CHARS).await.unwrap().unwrap();
    assert!(page.text.contains("rootdir: /srv/build"), "{}", page.text);
    assert!(!page.text.contains("in front of you"), "{}", page.text);
}
