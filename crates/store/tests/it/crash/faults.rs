//! The n-th write of a run fails, for every n: before it was done, or after it was and nobody
//! hears of it. The error surfaces, the same handle goes on, and the run ends as if nothing had
//! happened.

use std::ops::Range;
use std::sync::Arc;

use midfold_core::Usage;

use super::script::{self, ID, Script};
use midfold_store::faulty::{FaultyStore, WriteFailure};
use midfold_store::single::SingleChange as _;
use midfold_store::{MemoryStore, Store, StoreError, StoredError, StoredSession, fsck};

const STEPS: usize = 16;

/// What a run ends with.
#[derive(Debug, PartialEq)]
struct End {
    contexts: Vec<Vec<u8>>,
    events: u64,
    folds: usize,
    jobs: usize,
}

/// The error of a full disk; anything else was not asked for.
fn is_full(error: &StoredError) {
    let StoredError::Store(StoreError::Backend { text: why, .. }) = error else {
        panic!("{error}")
    };
    assert!(why.contains("disk is full"), "{why}");
}

/// Runs the script over a store some of whose writes fail; returns what it came to, the writes,
/// and how many errors surfaced.
async fn run(failure: WriteFailure, fails: Range<u64>) -> (End, u64, usize) {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    inner.create(script::new_session()).await.unwrap();
    let faulty = Arc::new(FaultyStore::new(inner.clone(), failure, fails));
    let script = Script::new(77, 12);
    let mut life = 0;
    let mut worker = script::worker(faulty.clone(), life);
    let mut stored = StoredSession::open(faulty.clone(), ID).await.unwrap();
    let (mut contexts, mut errors) = (Vec::new(), 0);
    for step in 0..STEPS {
        while stored.row().head < script.end(step) {
            let before = stored.row().head;
            match script::append(&mut stored, &script, step).await {
                Ok(()) => {}
                Err(error) => {
                    is_full(&error);
                    println!("step {step}: {error}");
                    errors += 1;
                    // What the handle says is what the store has: all of the append or nothing.
                    let head = inner.session(ID).await.unwrap().head;
                    assert_eq!(stored.row().head, head, "step {step}");
                    assert!([before, script.end(step)].contains(&head), "step {step}: {head}");
                    if let Some(key) = script.key(step) {
                        // A client that saw an error and retries by key changes nothing twice.
                        let (events, now) = (script.step_events(step), script.now(step));
                        match stored.append(events, Some(key), now).await {
                            Ok(again) => assert_eq!(again.repeated, head != before),
                            Err(error) => {
                                is_full(&error);
                                errors += 1;
                            }
                        }
                    }
                }
            }
        }
        loop {
            match script::after_append(&mut stored, &worker, &script, step, drop).await {
                Ok(sent) => break contexts.push(sent.context.bytes()),
                Err(error) => {
                    is_full(&error);
                    println!("step {step}: {error}");
                    errors += 1;
                    // The lease of a worker that failed runs out.
                    life += 1;
                    worker = script::worker(faulty.clone(), life);
                }
            }
        }
    }
    let report = fsck(&*inner).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let rows = inner.events(ID, 0..u64::MAX).await.unwrap();
    for (row, at) in rows.iter().zip(0..) {
        assert_eq!(row.event.bytes, script.event(at).bytes, "event {at}");
    }
    let folds = inner.folds(ID).await.unwrap().len();
    let jobs = inner.jobs(Some(ID), u32::MAX).await.unwrap().len();
    (End { contexts, events: rows.len() as u64, folds, jobs }, faulty.writes(), errors)
}

async fn every_write_may_fail(failure: WriteFailure, length: u64) {
    let (calm, writes, errors) = run(failure, 0..0).await;
    assert_eq!(errors, 0);
    assert!(calm.folds > 1 && writes > 60, "{} folds, {writes} writes", calm.folds);
    let mut silent = 0;
    for first in 0..writes {
        let (end, _, errors) = run(failure, first..first + length).await;
        silent += usize::from(errors == 0);
        for (step, (found, expected)) in end.contexts.iter().zip(&calm.contexts).enumerate() {
            assert!(found == expected, "write {first} failed: step {step} has another context");
        }
        assert_eq!(end.events, calm.events, "write {first} failed");
    }
    // Every failure is heard of but one kind: an append that is durable is a success, also where
    // the span that it queued could not be noted.
    assert!(silent <= calm.jobs, "{silent} of {writes} failed writes were not heard of");
}

#[tokio::test]
async fn a_write_that_was_not_done() {
    every_write_may_fail(WriteFailure::Before, 1).await;
}

#[tokio::test]
async fn a_write_that_was_done_and_not_heard_of() {
    every_write_may_fail(WriteFailure::After, 1).await;
}

#[tokio::test]
async fn a_disk_that_stays_full_for_a_while() {
    every_write_may_fail(WriteFailure::Before, 4).await;
}

/// The append fails, and so does the attempt to read the session again. What was pushed for it must not go on.
#[tokio::test]
async fn a_store_that_is_away_for_a_while_damages_nothing() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    inner.create(script::new_session()).await.unwrap();
    let faulty = Arc::new(FaultyStore::new(inner.clone(), WriteFailure::Before, 0..0));
    let script = Script::new(78, 12);
    for is_whole in [false, true] {
        let mut stored = StoredSession::open(faulty.clone(), ID).await.unwrap();
        if is_whole {
            stored.whole().await.unwrap();
        }
        let (step, head) = (usize::from(is_whole), stored.row().head);
        let (events, now) = (script.step_events(step), script.now(step));
        faulty.set_away(true);
        for _ in 0..2 {
            assert!(stored.append(events.clone(), None, now).await.is_err());
        }
        assert!(
            stored.context(false, now).await.is_err(),
            "{is_whole}: nobody knows what is there"
        );
        faulty.set_away(false);
        stored.append(events.clone(), None, now).await.unwrap();
        assert_eq!(stored.row().head, head + events.len() as u64);
        let again = StoredSession::open(inner.clone(), ID).await.unwrap().row().clone();
        assert_eq!(&again, stored.row());
        let mut again = StoredSession::open(inner.clone(), ID).await.unwrap();
        let known = stored.whole().await.unwrap().log().head_hash();
        assert_eq!(again.whole().await.unwrap().log().head_hash(), known);
    }
    let report = fsck(&*inner).await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// A pin and an undo that the store refused are undone in memory, too: a later save must not write them.
#[tokio::test]
async fn a_change_that_the_store_refused_is_not_written_later() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    inner.create(script::new_session()).await.unwrap();
    let faulty = Arc::new(FaultyStore::new(inner.clone(), WriteFailure::Before, 0..0));
    let script = Script::new(78, 12);
    let mut stored = StoredSession::open(faulty.clone(), ID).await.unwrap();
    for step in 0..12 {
        stored.append(script.step_events(step), None, script.now(step)).await.unwrap();
    }
    let now = script.now(12);
    stored.compact(None, now).await.unwrap();
    let active = stored.row().active;
    assert!(active.is_some(), "the test needs a fold");
    faulty.set_away(true);
    assert!(stored.undo(None).await.is_err());
    assert!(stored.pin(3, true).await.is_err());
    faulty.set_away(false);
    stored.heed(Some("Keep the ports.")).await.unwrap();
    let end = StoredSession::open(inner.clone(), ID).await.unwrap();
    assert_eq!(end.row().active, active);
    assert!(end.row().state.contains("Keep the ports."), "{}", end.row().state);
    assert!(!end.row().state.contains(r#""pins":[3]"#), "{}", end.row().state);
    // The same pin without a failure is in the state, so the test above looks for the right thing.
    stored.pin(3, true).await.unwrap();
    assert!(stored.row().state.contains(r#""pins":[3]"#), "{}", stored.row().state);
    assert!(stored.whole().await.unwrap().active().is_some(), "the fold is still in force");
}

/// A retry with the number of the call counts nothing twice, and an older call does not move the meter.
#[tokio::test]
async fn a_count_that_is_reported_again_is_counted_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.create(script::new_session()).await.unwrap();
    let script = Script::new(78, 12);
    let mut stored = StoredSession::open(store.clone(), ID).await.unwrap();
    let mut calls = Vec::new();
    for step in 0..2 {
        stored.append(script.step_events(step), None, script.now(step)).await.unwrap();
        calls.push(stored.context(true, script.now(step)).await.unwrap().call.unwrap());
    }
    let (now, usage) = (script.now(2), |prompt| Usage { prompt, output: 5, ..Usage::default() });
    stored.observe(usage(900), Some(calls[1]), now).await.unwrap();
    let once = stored.row().state.clone();
    assert!(once.contains("900"), "{once}");
    stored.observe(usage(900), Some(calls[1]), now).await.unwrap();
    assert_eq!(stored.row().state, once, "the retry");
    let refused = stored.observe(usage(901), Some(calls[1]), now).await.unwrap_err();
    assert!(refused.to_string().contains("usage"), "{refused}");
    stored.heed(Some("Keep the ports.")).await.unwrap();
    stored.heed(None).await.unwrap();
    assert_eq!(stored.row().state, once, "the refused count");
    let settled = |stored: &StoredSession| {
        let state: serde_json::Value = serde_json::from_str(&stored.row().state).unwrap();
        (state["meter"].clone(), state["spent"].clone())
    };
    let before = settled(&stored);
    stored.observe(usage(400), Some(calls[0]), now).await.unwrap();
    let after = settled(&stored);
    assert_eq!(before.0, after.0, "the older call moved the meter");
    assert_ne!(before.1, after.1, "the older call was paid for as well");
}
