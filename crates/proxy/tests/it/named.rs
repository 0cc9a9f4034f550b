//! Names of sessions in headers: one that changes with each request names none, and what a client hears of is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use midfold::core::Hash;
use midfold::formats::request::Request;
use midfold::store::{MemoryStore, Store};
use midfold::{DialectKind, Policy};
use midfold_proxy::{Proxy, ProxyRules, RequestSender};
use midfold_testkit::coding_session;

/// What a client heard of, and what is stored at the end.
struct Outcome {
    heard: BTreeSet<String>,
    folds: BTreeSet<Hash>,
    stored: BTreeSet<String>,
    stored_folds: BTreeSet<Hash>,
    events: u64,
    held: usize,
}

/// Sends a growing history: each request is a name and a number of messages of one of two branches, which share their
/// first 20 messages.
async fn run(requests: impl IntoIterator<Item = (String, u64, usize)>) -> Outcome {
    let rules = ProxyRules::new(Policy::preset("default").unwrap()).window(8_000).stored();
    let (proxy, store) = (Arc::new(Proxy::new(rules)), MemoryStore::new());
    let (mut heard, mut folds) = (BTreeSet::new(), BTreeSet::new());
    for (now, (name, branch, end)) in requests.into_iter().enumerate() {
        let mut messages = coding_session(7, 20)[..20].to_vec();
        messages.extend_from_slice(&coding_session(7 + branch, 80)[20..]);
        let body = format!(r#"{{"model":"m","messages":[{}]}}"#, messages[..end].join(","));
        let request = Request::read(DialectKind::OpenAiChat, Bytes::from(body)).unwrap();
        let who = RequestSender { hint: Some(name), ..RequestSender::default() };
        let turn = proxy.turn(request, &who, now as u64);
        turn.accept();
        heard.extend(turn.sent().session.clone());
        folds.extend(turn.sent().session.as_ref().and(turn.sent().fold));
        while proxy.save(&store, now as u64).await.unwrap() {}
    }
    let rows = store.sessions(None, 100).await.unwrap();
    let mut stored_folds = BTreeSet::new();
    for row in &rows {
        let all = store.folds(&row.new.id).await.unwrap();
        stored_folds.extend(all.into_iter().map(|row| row.fold.id));
    }
    let events = rows.iter().map(|row| row.head).sum();
    let stored = rows.into_iter().map(|row| row.new.id).collect();
    Outcome { heard, folds, stored, stored_folds, events, held: proxy.held().0 }
}

impl Outcome {
    fn is_stored(&self) -> bool {
        self.heard.is_subset(&self.stored) && self.folds.is_subset(&self.stored_folds)
    }
}

/// Requests with so many messages. The first one already has answers.
fn ends() -> impl Iterator<Item = usize> {
    (22..62).step_by(2)
}

#[tokio::test]
async fn a_name_that_changes_with_each_request_begins_no_session() {
    type Naming = fn(usize) -> String;
    let namings: [(&str, Naming); 4] = [
        ("one", |_| "a".to_owned()),
        ("new with each request", |at| format!("r{at}")),
        ("one of two in turns", |at| format!("r{}", at % 2)),
        ("one of three in turns", |at| format!("r{}", at % 3)),
    ];
    for (which, name) in namings {
        let found = run(ends().enumerate().map(|(at, end)| (name(at), 0, end))).await;
        assert!(found.is_stored() && !found.folds.is_empty(), "{which}");
        assert_eq!((found.heard.len(), found.stored.len(), found.held), (1, 1, 1), "{which}");
        assert!(found.events > 50, "{which}: {}", found.events);
    }
}

/// A request that is sent twice, under two names, makes no second conversation of which a client hears.
#[tokio::test]
async fn a_repeated_request_under_another_name_begins_no_session() {
    let twice = ends().flat_map(|end| [end, end]).enumerate();
    let found = run(twice.map(|(at, end)| (format!("r{at}"), 0, end))).await;
    assert!(found.is_stored() && !found.folds.is_empty());
    assert_eq!((found.heard.len(), found.stored.len()), (1, 1));
}

#[tokio::test]
async fn a_name_under_which_a_session_went_on_keeps_it_apart_from_one_under_another() {
    // Resumed under another name.
    let resumed = ends().map(|end| (if end < 40 { "a" } else { "b" }.to_owned(), 0, end));
    let found = run(resumed).await;
    assert!(found.is_stored());
    assert_eq!((found.heard.len(), found.stored.len()), (2, 2));
    // Both go on, with other messages.
    let forked = ends().flat_map(|end| match end < 30 {
        true => vec![("a".to_owned(), 0, end)],
        false => vec![("a".to_owned(), 0, end), ("b".to_owned(), 1, end)],
    });
    let found = run(forked).await;
    assert!(found.is_stored());
    assert_eq!((found.heard.len(), found.stored.len()), (2, 2));
}
