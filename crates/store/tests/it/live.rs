//! Stored sessions: durable before acknowledged, read in O(tail), one fold for all nodes, and a
//! model that may fail in any way without anybody waiting.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold_core::Usage;
use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::inject::Injections;
use midfold_core::meter::Meter;
use midfold_core::narrate::{
    FailureClass, FinishReason, SummaryFailure, SummaryReply, SummaryRequest,
};
use midfold_core::policy::Policy;
use midfold_store::worker::{Clock, JobWorker};
use midfold_store::{
    JobClaim, JobState, MemoryStore, NewSession, SessionMeta, Store, StoreError, StoredError,
    StoredSession,
};
use midfold_testkit::emit;

const WINDOW: u64 = 8_000;

fn raw(seed: u64, turns: usize) -> Vec<RawEvent> {
    let lines = emit::openai_chat(&midfold_testkit::session(seed, turns));
    lines.into_iter().map(|line| RawEvent::new(line.into())).collect()
}

fn new(id: &str, narrate: bool) -> NewSession {
    let mut policy = Policy::preset("default").unwrap();
    policy.narration.on = narrate;
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
    NewSession {
        id: id.into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:3.2".into(),
        policy: policy.to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 1,
    }
}

async fn make(id: &str, narrate: bool) -> (Arc<dyn Store>, StoredSession) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let stored = StoredSession::create(store.clone(), new(id, narrate)).await.unwrap();
    (store, stored)
}

/// Appends one event at a time until the context is at least this share of the window.
async fn fill(stored: &mut StoredSession, seed: u64, percent: u64) {
    for event in raw(seed, 60) {
        stored.append(vec![event], None, 2).await.unwrap();
        let open = stored.whole().await.unwrap().log().has_open_call();
        if !open && stored.status(2).await.unwrap().context_percent >= percent {
            return;
        }
    }
    panic!("not enough events");
}

fn good(request: &SummaryRequest) -> SummaryReply {
    let mut text = format!("{}\n", request.header);
    for section in &request.sections {
        text.push_str(&format!("- **{section}:** work went on as planned\n"));
    }
    SummaryReply { text, finish: FinishReason::Stop, model: "test".into(), usage: None, calls: 1 }
}

fn clock() -> (Clock, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(10_000));
    let read = time.clone();
    (Arc::new(move || read.load(Ordering::SeqCst)), time)
}

#[tokio::test]
async fn what_is_stored_is_what_the_engine_does_in_memory() {
    let (store, mut stored) = make("s", false).await;
    let policy = Policy::preset("default").unwrap();
    let log = stored.whole().await.unwrap().log().clone();
    let mut engine = midfold_core::engine::Session::over("s", log, policy, Meter::exact());
    let budget = Budget::new(WINDOW);
    for (at, event) in raw(3, 40).into_iter().enumerate() {
        engine.append(event.clone());
        // Half of the time as a new process that knows nothing.
        if at % 2 == 0 {
            stored = StoredSession::open(store.clone(), "s").await.unwrap();
        }
        let appended = stored.append(vec![event], None, 2).await.unwrap();
        assert_eq!((appended.first, appended.count), (at as u64, 1));
        let expected = engine.context(&budget, 2).unwrap();
        let sent = stored.context(true, 2).await.unwrap();
        assert_eq!(sent.context.bytes(), expected.bytes(), "event {at}");
        let usage = Usage { prompt: expected.tokens() + 100, output: 5, ..Usage::default() };
        engine.observe(usage, 3);
        stored.observe(usage, sent.call, 3).await.unwrap();
    }
    assert!(engine.folds().len() > 1, "the test has to fold more than once");
    let folds = stored.folds().await.unwrap();
    assert_eq!(
        folds.iter().map(|f| f.id).collect::<Vec<_>>(),
        engine.folds().iter().map(|f| f.id).collect::<Vec<_>>()
    );
    // The ledger holds every call, chained, with what it cost.
    let calls = stored.calls().await.unwrap();
    assert_eq!(calls.len(), engine.log().len());
    assert!(calls.iter().all(|(_, settled)| settled.is_some()));
    let records: Vec<_> = calls.into_iter().map(|(record, _)| record).collect();
    assert!(records.windows(2).all(|pair| pair[1].prev == pair[0].hash));
    let audit = midfold_core::audit::audit(engine.log(), engine.folds(), None, &records);
    assert!(audit.findings.is_empty(), "{audit}");
    // Between folds the whole call before is a prefix of the next one.
    for pair in records.windows(2).filter(|pair| pair[0].fold == pair[1].fold) {
        assert_eq!(pair[1].prefix.messages, pair[0].messages, "call {}", pair[1].number);
    }
    for pair in records.windows(2).filter(|pair| pair[0].fold != pair[1].fold) {
        assert!(pair[1].prefix.messages < pair[0].messages, "call {}", pair[1].number);
        assert!(pair[1].prefix.messages > 0, "the head stays");
    }
}

#[tokio::test]
async fn who_expects_a_place_loses_to_another_writer_and_who_expects_none_goes_on() {
    let (store, mut first) = make("s", false).await;
    let mut second = StoredSession::open(store.clone(), "s").await.unwrap();
    let events = raw(3, 2);
    first.append(vec![events[0].clone()], None, 2).await.unwrap();
    let lost = second.append_at(0, vec![events[1].clone()], None, 2).await;
    assert!(
        matches!(lost, Err(StoredError::Store(StoreError::Conflict { expected: 0, actual: 1 }))),
        "{lost:?}"
    );
    let ahead = first.append_at(7, vec![events[1].clone()], None, 2).await;
    assert!(
        matches!(ahead, Err(StoredError::Store(StoreError::Conflict { expected: 7, actual: 1 }))),
        "{ahead:?}"
    );
    second.append(vec![events[1].clone()], None, 2).await.unwrap();
    let behind = first.append(vec![events[2].clone()], None, 2).await.unwrap();
    assert_eq!(behind.first, 2, "the handle was read again and goes on");
    let keyed = |events: &[RawEvent]| events[2..4].to_vec();
    let one = second.append(keyed(&events), Some("k".into()), 2).await.unwrap();
    let mut third = StoredSession::open(store, "s").await.unwrap();
    let two = third.append(keyed(&events), Some("k".into()), 2).await.unwrap();
    assert_eq!((one.first, one.count, one.repeated), (3, 2, false));
    assert_eq!((two.first, two.count, two.repeated), (3, 2, true));
    assert_eq!(third.row().head, 5);
    // A key is no reason to ignore the place that is expected; a retry is the same append.
    let other = second.append_at(4, vec![events[0].clone()], Some("m".into()), 2).await;
    assert!(
        matches!(other, Err(StoredError::Store(StoreError::Conflict { expected: 4, actual: 5 }))),
        "{other:?}"
    );
    let six = second.append_at(5, vec![events[0].clone()], Some("m".into()), 2).await.unwrap();
    let again = second.append_at(5, vec![events[0].clone()], Some("m".into()), 2).await.unwrap();
    assert_eq!((six.first, six.repeated, again.first, again.repeated), (5, false, 5, true));
    assert_eq!(second.row().head, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_that_expect_nothing_all_append() {
    let (store, _) = make("s", false).await;
    let writer = |at: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut stored = StoredSession::open(store, "s").await.unwrap();
            for event in raw(at as u64, 30).into_iter().take(50) {
                stored.append(vec![event], None, 2).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    };
    for task in (0..8).map(writer).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(store.session("s").await.unwrap().head, 400);
    let report = midfold_store::fsck(&*store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
}

#[tokio::test]
async fn two_nodes_that_fold_at_once_end_with_one_fold() {
    let (store, mut first) = make("s", false).await;
    fill(&mut first, 3, 92).await;
    let mut second = StoredSession::open(store.clone(), "s").await.unwrap();
    let one = first.context(false, 3).await.unwrap();
    let two = second.context(false, 3).await.unwrap();
    assert!(one.folded.is_some());
    assert_eq!(one.context.bytes(), two.context.bytes());
    assert_eq!(store.folds("s").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_span_is_narrated_before_the_trigger_fires() {
    let (store, mut stored) = make("s", true).await;
    fill(&mut stored, 3, 62).await;
    let jobs = store.jobs(Some("s"), 10).await.unwrap();
    assert_eq!(jobs.len(), 1, "queued once, with the append that crossed the line");
    assert_eq!(jobs[0].state, JobState::Ready);
    let (clock, _) = clock();
    let worker = JobWorker::new(store.clone(), "w", clock);
    let report = worker.step(|request| async move { Ok(good(&request)) }).await.unwrap().unwrap();
    assert_eq!((report.code.as_str(), report.folded), ("accepted", true), "{report:?}");
    let before = StoredSession::open(store.clone(), "s").await.unwrap().row().active;
    assert_eq!(before, None, "what a worker finished is not active yet");
    let mut stored = StoredSession::open(store.clone(), "s").await.unwrap();
    fill(&mut stored, 9, 80).await;
    let sent = stored.context(true, 20_000).await.unwrap();
    assert!(sent.folded.is_some());
    let text = String::from_utf8(sent.context.bytes()).unwrap();
    assert!(text.contains("work went on as planned"), "the narration stands in the recap");
    let folds = stored.folds().await.unwrap();
    let active = folds.iter().find(|fold| Some(fold.id) == stored.row().active).unwrap();
    assert!(active.fallback.is_none() && active.narrated.is_some());
    assert!(worker.step(|request| async move { Ok(good(&request)) }).await.unwrap().is_none());
}

#[tokio::test]
async fn a_failing_model_costs_nothing_and_is_on_record() {
    for class in [FailureClass::Timeout, FailureClass::Auth, FailureClass::Server] {
        let (store, mut stored) = make("s", true).await;
        fill(&mut stored, 3, 62).await;
        let (clock, time) = clock();
        let worker = JobWorker::new(store.clone(), "w", clock);
        let fail = |_| async move { Err(SummaryFailure::new(class, "no")) };
        let mut attempts = 0;
        for _ in 0..10 {
            if worker.step(fail).await.unwrap().is_some() {
                attempts += 1;
            }
            time.fetch_add(300_000, Ordering::SeqCst);
        }
        assert_eq!(attempts, if class == FailureClass::Auth { 1 } else { 3 });
        let job = store.jobs(Some("s"), 10).await.unwrap().remove(0);
        assert_eq!(job.state, JobState::Dead);
        assert!(job.outcome.unwrap().starts_with(class.as_str()));
        // The turn goes on at once, with the computed recap, and the record says why.
        let mut stored = StoredSession::open(store.clone(), "s").await.unwrap();
        fill(&mut stored, 9, 80).await;
        let sent = stored.context(true, 3).await.unwrap();
        let folds = stored.folds().await.unwrap();
        let fold = folds.iter().find(|fold| Some(fold.id) == sent.folded).unwrap();
        assert_eq!(fold.fallback.map(|stands| stands.as_str()), Some("computed"));
        assert_eq!(
            fold.verdicts.iter().map(|v| v.code.as_str()).collect::<Vec<_>>(),
            [class.as_str()]
        );
        assert!(
            stored.status(3).await.unwrap().cooldown_seconds > 0,
            "no model is asked for a while"
        );
    }
}

#[tokio::test]
async fn a_refused_reply_is_on_record_and_the_fallback_stands() {
    let (store, mut stored) = make("s", true).await;
    fill(&mut stored, 3, 62).await;
    let (clock, _) = clock();
    let worker = JobWorker::new(store.clone(), "w", clock);
    let invent = |request: SummaryRequest| async move {
        let mut reply = good(&request);
        reply.text = reply
            .text
            .replace("as planned", "in /srv/made/up.rs, /srv/made/two.rs, /srv/x/three.rs");
        Ok(reply)
    };
    let report = worker.step(invent).await.unwrap().unwrap();
    assert_eq!((report.code.as_str(), report.folded), ("ungrounded", false), "{report:?}");
    fill(&mut stored, 9, 80).await;
    let mut stored = StoredSession::open(store, "s").await.unwrap();
    let sent = stored.context(false, 3).await.unwrap();
    let fold = stored.folds().await.unwrap().pop().unwrap();
    assert_eq!(sent.folded, Some(fold.id));
    assert_eq!(fold.verdicts[0].code.as_str(), "ungrounded");
    assert!(!String::from_utf8(sent.context.bytes()).unwrap().contains("made/up"));
}

#[tokio::test]
async fn undo_pin_fork_and_restart() {
    let (store, mut stored) = make("s", false).await;
    fill(&mut stored, 5, 85).await;
    let whole = stored.whole().await.unwrap().view().bytes();
    stored.pin(5, true).await.unwrap();
    assert!(matches!(stored.pin(5_000, true).await, Err(StoredError::NoEvent { .. })));
    let folded = stored.context(false, 3).await.unwrap();
    let mut again = StoredSession::open(store.clone(), "s").await.unwrap();
    assert_eq!(again.context(false, 3).await.unwrap().context.bytes(), folded.context.bytes());
    assert_eq!(again.status(3).await.unwrap().pins, [5]);
    let at = again.row().head;
    let mut fork = again.fork("f", None, 4).await.unwrap();
    assert_eq!(fork.context(false, 4).await.unwrap().context.bytes(), folded.context.bytes());
    assert_eq!((fork.row().head, fork.meta().parent.clone()), (at, Some(("s".into(), at))));
    again.undo(None).await.unwrap();
    let mut after = StoredSession::open(store.clone(), "s").await.unwrap();
    assert_eq!(
        after.context(false, 5).await.unwrap().context.bytes(),
        whole,
        "held, not folded again"
    );
    assert_eq!(fork.context(false, 5).await.unwrap().context.bytes(), folded.context.bytes());
    after.pin(5, false).await.unwrap();
    assert!(after.status(5).await.unwrap().pins.is_empty());
}

#[tokio::test]
async fn hooks_speak_last_and_within_their_reserve() {
    let (store, mut stored) = make("s", false).await;
    fill(&mut stored, 3, 70).await;
    let mut injections = Injections::default();
    injections.register("memory", 1_000).unwrap();
    let mut stored = StoredSession::open(store, "s").await.unwrap().with_injections(injections);
    assert_eq!(stored.budget().tokens(), WINDOW - 1_000);
    let plain = stored.context(false, 3).await.unwrap().context;
    let with = stored.context_with(&[("memory", "It rains.")], true, 3).await.unwrap();
    let (plain, with) = (plain.bytes(), (with.context.bytes(), with.call));
    assert_eq!(with.1, Some(1));
    assert!(with.0.starts_with(&plain[..plain.len() - 1]), "history stays a byte-stable prefix");
    assert!(String::from_utf8(with.0).unwrap().ends_with("It rains.\"}]"));
    let long = "rain ".repeat(2_000);
    let overrun = stored.context_with(&[("memory", &long)], true, 3).await.unwrap_err();
    let text = overrun.to_string();
    assert!(text.contains("memory") && text.contains("1000"), "{text}");
    assert_eq!(stored.calls().await.unwrap().len(), 1, "what was not sent is not recorded");
    assert_eq!(stored.calls().await.unwrap()[0].0.injections[0].hook, "memory");
}

/// The host sends its messages although no context fits, and reports their count after the session was opened again.
#[tokio::test]
async fn a_count_of_what_no_context_was_made_for_is_of_those_messages() {
    let (store, mut stored) = make("s", false).await;
    fill(&mut stored, 3, 40).await;
    let sent = stored.context(true, 2).await.unwrap();
    let usage = |prompt| Usage { prompt, output: 5, ..Usage::default() };
    stored.observe(usage(sent.context.tokens()), sent.call, 3).await.unwrap();
    let long = serde_json::json!({"role": "user", "content": "fn y() {}\n".repeat(4_000)});
    stored.append(vec![RawEvent::new(long.to_string().into())], None, 4).await.unwrap();
    let refused = stored.context(true, 4).await.unwrap_err();
    assert!(matches!(refused, StoredError::Plan(_)), "{refused}");
    let mut stored = StoredSession::open(store.clone(), "s").await.unwrap();
    let all = stored.whole().await.unwrap().view().tokens();
    stored.observe(usage(all + 100), None, 5).await.unwrap();
    assert!(stored.whole().await.unwrap().meter().unseen <= 200);
    for (at, text) in ["I read it.", "go on"].iter().enumerate() {
        let role = ["assistant", "user"][at];
        let event = serde_json::json!({ "role": role, "content": text }).to_string();
        stored.append(vec![RawEvent::new(event.into())], None, 6).await.unwrap();
    }
    let mut stored = StoredSession::open(store, "s").await.unwrap();
    stored.context(true, 7).await.unwrap();
}

#[tokio::test]
async fn a_worker_that_died_is_no_failure_of_the_model() {
    let (store, mut stored) = make("s", true).await;
    fill(&mut stored, 3, 62).await;
    let (clock, time) = clock();
    for _ in 0..4 {
        let now = time.fetch_add(300_000, Ordering::SeqCst) + 300_000;
        let claim = JobClaim { worker: "dead".to_owned(), now, until: now + 1, limit: 1 };
        assert_eq!(store.claim(&claim).await.unwrap().len(), 1);
    }
    let worker = JobWorker::new(store.clone(), "w", clock);
    let fail = |_| async move { Err(SummaryFailure::new(FailureClass::Server, "no")) };
    for _ in 0..10 {
        time.fetch_add(300_000, Ordering::SeqCst);
        worker.step(fail).await.unwrap();
    }
    let job = store.jobs(Some("s"), 1).await.unwrap().remove(0);
    assert_eq!((job.state, job.failures, job.attempt), (JobState::Dead, 3, 7));
}
