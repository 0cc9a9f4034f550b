//! A fold is named by all that it does: another pin is another fold, and nothing that was folded
//! before is in its way.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold_store::single::SingleChange as _;
use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::budget::{Budget, Ratio};
use midfold_core::event::RawEvent;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession, fsck};

fn message(role: &str, text: &str) -> RawEvent {
    let line = format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}");
    RawEvent::new(line.into_bytes().into())
}

const CALLS: usize = 5;
/// Pinned from the start.
const REPLY: u64 = 4;

fn calls() -> RawEvent {
    let call = |at| {
        format!(
            r#"{{"id":"c{at}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
        )
    };
    let calls: Vec<String> = (0..CALLS).map(call).collect();
    let line =
        format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","));
    RawEvent::new(line.into_bytes().into())
}

fn result(at: usize) -> RawEvent {
    let line = format!(r#"{{"role":"tool","tool_call_id":"c{at}","content":"ok"}}"#);
    RawEvent::new(line.into_bytes().into())
}

/// A session of 62 messages and a step that waits for its last result, folded behind a marker: the
/// recap is the same whatever it covers. The tail is that step.
async fn folded(store: Arc<dyn Store>) -> StoredSession {
    let meta = SessionMeta {
        budget: Budget::new(3_000),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    let mut policy = Policy::preset("head-tail").unwrap();
    (policy.tail.ratio, policy.tail.min_messages) = (Ratio(0), CALLS - 1);
    let new = NewSession {
        id: "s".into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:3.2".into(),
        policy: policy.to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 1,
    };
    let mut stored = StoredSession::create(store, new).await.unwrap();
    let mut events = vec![message("system", "s"), message("user", "the task")];
    for at in 0..30 {
        events.push(message("assistant", &format!("reply {at} {}", "blah ".repeat(40))));
        events.push(message("user", &format!("remark {at} {}", "blah ".repeat(20))));
    }
    events.push(calls());
    events.extend((0..CALLS - 1).map(result));
    stored.append(events, None, 1).await.unwrap();
    stored.pin(REPLY, true).await.unwrap();
    assert!(matches!(stored.compact(None, 1).await.unwrap(), PlanOutcome::Folded(_)));
    stored
}

/// Whether the remark of event 5 is in the context.
async fn says_the_remark(stored: &mut StoredSession) -> bool {
    let bytes = stored.context(false, 2).await.unwrap().context.bytes();
    String::from_utf8(bytes).unwrap().contains("remark 1 ")
}

async fn is_sound(store: &dyn Store, stored: &mut StoredSession) {
    let report = fsck(store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let session = stored.whole().await.unwrap();
    let audit = midfold_core::audit::audit(session.log(), session.folds(), None, &[]);
    assert!(audit.is_clean(), "{:?}", audit.findings);
}

#[tokio::test]
async fn a_pin_after_an_undo_makes_another_fold() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut stored = folded(store.clone()).await;
    assert!(!says_the_remark(&mut stored).await);
    let first = stored.row().active;
    stored.undo(None).await.unwrap();
    stored.pin(5, true).await.unwrap();
    assert!(matches!(stored.compact(None, 2).await.unwrap(), PlanOutcome::Folded(_)));
    assert!(says_the_remark(&mut stored).await, "the pinned message is not in the context");
    assert_ne!(stored.row().active, first);
    is_sound(&*store, &mut stored).await;
}

#[tokio::test]
async fn what_is_folded_alike_after_an_undo_is_the_fold_that_is_there() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut stored = folded(store.clone()).await;
    let first = stored.row().active;
    stored.undo(None).await.unwrap();
    stored.compact(None, 2).await.unwrap();
    assert_eq!(stored.row().active, first);
    assert_eq!(stored.whole().await.unwrap().folds().len(), 1);
    assert_eq!(store.folds("s").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_fold_over_the_span_of_the_active_one_does_not_get_stuck() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut stored = folded(store.clone()).await;
    let span = stored.folds().await.unwrap()[0].span.clone();
    stored.pin(REPLY, false).await.unwrap();
    stored.pin(5, true).await.unwrap();
    stored.append(vec![result(CALLS - 1)], None, 2).await.unwrap();
    let outcome = stored.compact(None, 2).await.unwrap();
    let PlanOutcome::Folded(fold) = outcome else { panic!("{outcome:?}") };
    assert_eq!(fold.span, span, "the test needs a second fold of the same span");
    assert!(says_the_remark(&mut stored).await, "the pinned message is not in the context");
    is_sound(&*store, &mut stored).await;
}

/// A newer midfold may write records of another shape.
#[tokio::test]
async fn the_fold_of_a_newer_midfold_says_what_to_do() {
    use midfold_store::NewFold;

    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let stored = folded(store.clone()).await;
    let fold = stored.folds().await.unwrap().remove(0);
    let row = NewFold::of(&fold, 7).unwrap();
    let newer = NewFold { id: Hash([7; 32]), body: r#"{"version":99}"#.to_owned(), ..row };
    store.put_fold("s", &newer).await.unwrap();
    let Err(error) = stored.folds().await else { panic!("a newer record was read") };
    assert!(error.to_string().contains("update midfold"), "{error}");
}

/// A database of the first version, with a fold whose record is of the first version too.
#[tokio::test]
async fn an_old_database_is_taken_over_with_its_folds() {
    use midfold_store::{AppendRequest, NewFold};
    use sqlx::{Connection, SqliteConnection};

    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let stored = folded(memory.clone()).await;
    let mut fold = stored.folds().await.unwrap().remove(0);
    fold.version = 1;
    fold.id = fold.compute_id();

    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("old.db").display());
    let mut db = SqliteConnection::connect(&format!("{url}?mode=rwc")).await.unwrap();
    sqlx::raw_sql(include_str!("../../migrations/sqlite/0001_tables.sql"))
        .execute(&mut db)
        .await
        .unwrap();
    sqlx::raw_sql("PRAGMA user_version = 1; PRAGMA application_id = 0x6d666c64")
        .execute(&mut db)
        .await
        .unwrap();
    let row = NewFold::of(&fold, 7).unwrap();
    sqlx::query("INSERT INTO folds VALUES (1, 1, $1, $2, $3, $4, $5, $6, $7, '[[4,5]]', 7, $8)")
        .bind(&row.id.0[..])
        .bind(i64::try_from(row.start).unwrap())
        .bind(i64::try_from(row.end).unwrap())
        .bind(&row.before.0[..])
        .bind(&row.through.0[..])
        .bind(&row.policy.0[..])
        .bind(&row.recap.0[..])
        .bind(&row.body)
        .execute(&mut db)
        .await
        .unwrap();
    db.close().await.unwrap();

    let store = midfold_store::open(&url).await.unwrap();
    store.create(stored.row().new.clone()).await.unwrap();
    let events = memory.events("s", 0..stored.row().head).await.unwrap();
    let events = events.into_iter().map(|row| row.event).collect();
    store.append("s", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    assert_eq!(store.folds("s").await.unwrap()[0].fold, row, "the old fold is there as it was");
    store.activate("s", None, Some(row.id)).await.unwrap();

    let mut stored = StoredSession::open(store.clone(), "s").await.unwrap();
    is_sound(&*store, &mut stored).await;
    stored.pin(REPLY, false).await.unwrap();
    stored.pin(5, true).await.unwrap();
    stored.append(vec![result(CALLS - 1)], None, 8).await.unwrap();
    stored.compact(None, 8).await.unwrap();
    assert!(says_the_remark(&mut stored).await);
    assert_eq!(store.folds("s").await.unwrap().len(), 2);
    is_sound(&*store, &mut stored).await;
}
