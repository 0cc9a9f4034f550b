//! Reasoning that a model binds to all that stood before it: what a fold voids leaves the context
//! for ever, and what was thought after the fold stays, in a stored session as in a file.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::{PlanOutcome, PlanRequest, plan};
use midfold_core::policy::Policy;
use midfold_core::project::project;
use midfold_formats::{DialectKind, profile};
use midfold_store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession, fsck};

const WINDOW: u64 = 6_000;
const BINDS: &str = "claude-opus-5-5";

/// A call with its thinking, and its result.
fn step(at: usize) -> [RawEvent; 2] {
    let thinking = format!(r#"{{"type":"thinking","thinking":"t{at}","signature":"sig-{at}."}}"#);
    let call = format!(r#"{{"type":"tool_use","id":"toolu_{at}","name":"bash","input":{{}}}}"#);
    let text = "fn x() {}\\n".repeat(20);
    let result =
        format!(r#"{{"type":"tool_result","tool_use_id":"toolu_{at}","content":"{text}"}}"#);
    [
        format!(r#"{{"role":"assistant","content":[{thinking},{call}]}}"#),
        format!(r#"{{"role":"user","content":[{result}]}}"#),
    ]
    .map(|line| RawEvent::new(line.into_bytes().into()))
}

fn user(text: &str) -> RawEvent {
    RawEvent::new(format!(r#"{{"role":"user","content":"{text}"}}"#).into_bytes().into())
}

/// An agent in the middle of its work: the last result is there, the model speaks next.
fn at_work() -> Vec<RawEvent> {
    std::iter::once(user("Fix retry")).chain((0..20).flat_map(step)).collect()
}

async fn session(model: &str, events: Vec<RawEvent>) -> (Arc<dyn Store>, StoredSession) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = SessionMeta {
        budget: Budget::new(WINDOW),
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
        dialect: "anthropic".into(),
        profile: "anthropic".into(),
        counter: "chars:3.2".into(),
        policy: Policy::preset("default").unwrap().to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 1,
    };
    let mut stored = StoredSession::create(store.clone(), new).await.unwrap();
    stored.update_model(model, None).await.unwrap();
    stored.append(events, None, 1).await.unwrap();
    (store, stored)
}

async fn fold(stored: &mut StoredSession) {
    let outcome = stored.compact(None, 2).await.unwrap();
    assert!(matches!(outcome, PlanOutcome::Folded(_)), "{outcome:?}");
}

/// Signatures that stand in the context.
async fn signatures(stored: &mut StoredSession) -> usize {
    text(stored).await.matches("\"signature\"").count()
}

async fn text(stored: &mut StoredSession) -> String {
    let bytes = stored.context(false, 3).await.unwrap().context.bytes();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn a_fold_voids_what_was_thought_before_it_and_nothing_after_it() {
    let (store, mut stored) = session(BINDS, at_work()).await;
    assert_eq!(signatures(&mut stored).await, 20);
    fold(&mut stored).await;
    assert_eq!(signatures(&mut stored).await, 0, "it was bound to messages that are not there");
    stored.append(step(20).to_vec(), None, 3).await.unwrap();
    assert!(text(&mut stored).await.contains("sig-20."), "it is bound to the folded context");
    // The same for a process that reads head, fold and tail alone.
    let mut again = StoredSession::open(store.clone(), "s").await.unwrap();
    assert_eq!(text(&mut again).await, text(&mut stored).await);
    fold(&mut again).await;
    assert_eq!(signatures(&mut again).await, 0, "a second fold voids that, too");
    let report = fsck(&*store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
}

#[tokio::test]
async fn a_file_and_a_stored_session_fold_alike() {
    let (_, mut stored) = session(BINDS, at_work()).await;
    fold(&mut stored).await;
    let rules = profile::for_model(profile::ANTHROPIC, BINDS);
    let counter = midfold_tokens::by_name("chars:3.2").unwrap();
    let mut log = EventLog::new(DialectKind::Anthropic.shared(), rules, counter);
    at_work().into_iter().for_each(|event| {
        log.append(event);
    });
    let (policy, budget) = (Policy::preset("default").unwrap(), Budget::new(WINDOW));
    let cause = midfold_core::plan::FoldCause::Manual;
    let request = PlanRequest { cause, ..PlanRequest::new(&log, &policy, &budget, Meter::exact()) };
    let PlanOutcome::Folded(fold) = plan(&request).unwrap() else { panic!("nothing is folded") };
    let bytes = project(&log, Some(&fold)).bytes();
    assert_eq!(text(&mut stored).await, String::from_utf8(bytes).unwrap());
}

#[tokio::test]
async fn a_model_that_does_not_bind_keeps_its_thinking() {
    let (_, mut stored) = session("claude-sonnet-4-5", at_work()).await;
    fold(&mut stored).await;
    assert!(text(&mut stored).await.contains("sig-19."));
}
