//! A session that is deleted is gone: from every table, from the file, from under whoever held it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::narrate::{FinishReason, SummaryReply};
use midfold_core::policy::Policy;
use midfold_store::worker::JobWorker;
use midfold_store::{
    MemoryStore, NewSession, SessionMeta, Store, StoreError, StoredError, StoredSession, fsck,
};
use midfold_testkit::emit;

fn new(id: &str) -> NewSession {
    let mut policy = Policy::preset("default").unwrap();
    policy.narration.on = true;
    let meta = SessionMeta {
        budget: Budget::new(8_000),
        envelope: vec![],
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

fn messages(seed: u64, turns: usize) -> Vec<RawEvent> {
    let lines = emit::openai_chat(&midfold_testkit::session(seed, turns));
    lines.into_iter().map(|line| RawEvent::new(line.into())).collect()
}

/// A session with a fold, a call and a job that waits.
async fn folded(store: &Arc<dyn Store>, id: &str) -> StoredSession {
    let mut stored = StoredSession::create(store.clone(), new(id)).await.unwrap();
    stored.append(messages(3, 12), Some("first".into()), 2).await.unwrap();
    stored.compact(None, 3).await.unwrap();
    stored.append(messages(4, 6), None, 4).await.unwrap();
    stored.context(true, 5).await.unwrap();
    assert!(stored.row().active.is_some());
    stored
}

/// Each kind of store that is there, empty.
async fn stores(folder: &std::path::Path) -> Vec<Arc<dyn Store>> {
    let mut stores: Vec<Arc<dyn Store>> = vec![Arc::new(MemoryStore::new())];
    let url = format!("sqlite:{}", folder.join("store.db").display());
    stores.push(midfold_store::open(&url).await.unwrap());
    stores
}

async fn is_clean(store: &dyn Store) {
    let report = fsck(store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
}

fn is_gone<T: std::fmt::Debug>(outcome: Result<T, StoredError>) {
    match outcome {
        Err(StoredError::Store(StoreError::NoSession(id))) => assert_eq!(id, "s"),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_fork_is_whole_without_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let mut parent = folded(&store, "s").await;
        let mut fork = parent.fork("fork", None, 6).await.unwrap();
        let mut early = parent.fork("early", Some(9), 6).await.unwrap();
        let before = fork.context(false, 7).await.unwrap().context.bytes();
        let events = store.events("fork", 0..u64::MAX).await.unwrap();
        drop((parent, fork));
        store.delete("s", None).await.unwrap();
        store.scrub().await.unwrap();

        is_clean(&*store).await;
        assert_eq!(store.events("fork", 0..u64::MAX).await.unwrap(), events);
        let mut fork = StoredSession::open(store.clone(), "fork").await.unwrap();
        assert_eq!(fork.context(false, 7).await.unwrap().context.bytes(), before);
        assert_eq!(fork.meta().parent.as_ref().unwrap().0, "s", "where it came from is on record");
        // It goes on: it appends, folds, undoes, and is forked itself.
        fork.append(messages(5, 12), None, 8).await.unwrap();
        fork.compact(None, 9).await.unwrap();
        fork.undo(None).await.unwrap();
        fork.fork("fork 2", None, 10).await.unwrap();
        early.append(messages(6, 2), None, 8).await.unwrap();
        // And the other way round: a parent does not need its forks.
        store.delete("fork", None).await.unwrap();
        is_clean(&*store).await;
        let left = store.sessions(None, 9).await.unwrap();
        let left: Vec<_> = left.iter().map(|row| &*row.new.id).collect();
        assert_eq!(left, ["early", "fork 2"]);
    }
}

#[tokio::test]
async fn who_holds_a_deleted_session_is_told_and_brings_nothing_back() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let mut held = folded(&store, "s").await;
        store.delete("s", None).await.unwrap();
        is_gone(held.append(messages(7, 1), None, 9).await);
        is_gone(held.append(messages(7, 1), Some("key".into()), 9).await);
        is_gone(held.append_at(held.row().head, messages(7, 1), None, 9).await);
        is_gone(held.context(true, 9).await);
        is_gone(held.compact(None, 9).await);
        is_gone(held.undo(None).await);
        is_gone(held.pin(3, true).await);
        is_gone(held.reload().await);
        is_gone(StoredSession::open(store.clone(), "s").await.map(drop));
        assert_eq!(store.sessions(None, 9).await.unwrap(), []);
        assert_eq!(store.jobs(None, 9).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_worker_whose_session_is_deleted_has_lost_its_job() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let mut stored = StoredSession::create(store.clone(), new("s")).await.unwrap();
        for event in messages(3, 40) {
            if store.jobs(Some("s"), 1).await.unwrap().len() == 1 {
                break;
            }
            stored.append(vec![event], None, 2).await.unwrap();
        }
        let time = Arc::new(AtomicU64::new(10_000));
        let read = time.clone();
        let clock = Arc::new(move || read.load(Ordering::SeqCst));
        let worker = JobWorker::new(store.clone(), "w", clock);
        let under = store.clone();
        let narrate = move |request: midfold_core::narrate::SummaryRequest| {
            let store = under.clone();
            async move {
                // While the model writes.
                store.delete("s", None).await.unwrap();
                let mut text = format!("{}\n", request.header);
                for section in &request.sections {
                    text.push_str(&format!("- **{section}:** work went on as planned\n"));
                }
                let (finish, model) = (FinishReason::Stop, "test".into());
                Ok(SummaryReply { text, finish, model, usage: None, calls: 1 })
            }
        };
        let report = worker.step(&narrate).await.unwrap().unwrap();
        assert_eq!((report.code.as_str(), report.folded), ("lost", false), "{report:?}");
        assert!(report.detail.contains("its session was deleted"), "{report:?}");
        assert_eq!(store.sessions(None, 9).await.unwrap(), []);
        time.fetch_add(1_000_000, Ordering::SeqCst);
        assert!(worker.step(&narrate).await.unwrap().is_none(), "a job is due again");
        is_clean(&*store).await;
    }
}
