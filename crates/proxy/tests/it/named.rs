//! Names of sessions in headers: one that changes with each request names none, and what a client hears of is stored.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

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

/// The messages of one of two branches, which share the first 20.
fn branch(number: u64) -> Vec<String> {
    let mut messages = coding_session(7, 6)[..20].to_vec();
    messages.extend_from_slice(&coding_session(7 + number, 6)[20..]);
    messages
}

/// Where a client sends: before each message of the assistant behind the shared ones.
fn stops(messages: &[String]) -> Vec<usize> {
    let is_model = |at: usize| messages[at].contains(r#""role":"assistant""#);
    (22..messages.len()).filter(|at| is_model(*at) && !is_model(at - 1)).collect()
}

/// Sends a growing history: each request is a name, a branch, and the number of its step.
async fn run(requests: impl IntoIterator<Item = (String, u64, usize)>) -> Outcome {
    let rules = ProxyRules::new(Policy::preset("default").unwrap()).window(8_000).stored();
    let (proxy, store) = (Arc::new(Proxy::new(rules)), MemoryStore::new());
    let (mut heard, mut folds) = (BTreeSet::new(), BTreeSet::new());
    for (now, (name, number, step)) in requests.into_iter().enumerate() {
        let messages = branch(number);
        let end = stops(&messages)[step];
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
    Outcome { heard, folds, stored, stored_folds, events, held: proxy.extent().0 }
}

impl Outcome {
    fn is_stored(&self) -> bool {
        self.heard.is_subset(&self.stored) && self.folds.is_subset(&self.stored_folds)
    }
}

/// The steps of a client. The first request already has answers.
const STEPS: usize = 18;

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
        let found = run((0..STEPS).map(|step| (name(step), 0, step))).await;
        assert!(found.is_stored() && !found.folds.is_empty(), "{which}");
        assert_eq!((found.heard.len(), found.stored.len()), (1, 1), "{which}");
        assert_eq!(found.held, 1, "{which}");
        assert!(found.events > 40, "{which}: {}", found.events);
    }
}

/// A request that is sent twice, under two names, makes no second conversation of which a client hears.
#[tokio::test]
async fn a_repeated_request_under_another_name_begins_no_session() {
    let twice = (0..STEPS).flat_map(|step| [step, step]).enumerate();
    let found = run(twice.map(|(at, step)| (format!("r{at}"), 0, step))).await;
    assert!(found.is_stored() && !found.folds.is_empty());
    assert_eq!((found.heard.len(), found.stored.len()), (1, 1));
}

#[tokio::test]
async fn a_name_under_which_a_session_went_on_keeps_it_apart_from_one_under_another() {
    // Resumed under another name.
    let resumed = (0..STEPS).map(|step| (if step < 9 { "a" } else { "b" }.to_owned(), 0, step));
    let found = run(resumed).await;
    assert!(found.is_stored());
    assert_eq!((found.heard.len(), found.stored.len()), (2, 2));
    // Both go on, with other messages.
    let forked = (0..STEPS).flat_map(|step| match step < 4 {
        true => vec![("a".to_owned(), 0, step)],
        false => vec![("a".to_owned(), 0, step), ("b".to_owned(), 1, step)],
    });
    let found = run(forked).await;
    assert!(found.is_stored());
    assert_eq!((found.heard.len(), found.stored.len()), (2, 2));
}
