//! Commits the changes of a session in one transaction.
//!
//! Every transaction locks in this order: the session's row, its job, the activity row. So none waits for another
//! forever.

use sqlx::AssertSqlSafe;

use super::calls::{last_call, record_call, settle_call};
use super::db::{SqlConnection, query};
use super::events::{answer, head, take_key};
use super::folds::{activate, put_fold};
use super::jobs::enqueue;
use super::rows::integer_of;
use super::sessions::{create, find_number, identify, save_state, session};
use super::{failed, jobs};
use crate::changes::{CommitOutcome, SessionChanges};
use crate::error::StoreError;
use crate::types::{AppendOutcome, AppendRequest};

/// Commits the changes. An error leaves nothing behind.
pub(super) async fn commit<D: SqlConnection>(
    db: &mut D,
    id: &str,
    changes: &SessionChanges,
) -> Result<CommitOutcome, StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    match apply(&mut *tx, id, changes).await {
        Ok(outcome) => {
            tx.commit().await.map_err(failed)?;
            Ok(outcome)
        }
        Err(error) => {
            // The first failure is the one that the caller has to know. A failed rollback is repeated at the next use.
            let _ = tx.rollback().await;
            match error {
                // Only now, because PostgreSQL answers nothing in a transaction with a refused insert.
                StoreError::Conflict { expected, .. } => {
                    let no = find_number(db, id).await?;
                    Err(StoreError::Conflict { expected, actual: head(db, no).await? })
                }
                error => Err(error),
            }
        }
    }
}

/// Applies the changes within a transaction.
async fn apply<D: SqlConnection>(
    db: &mut D,
    id: &str,
    changes: &SessionChanges,
) -> Result<CommitOutcome, StoreError> {
    let no = match &changes.created {
        Some(new) => create(db, new).await?.ok_or_else(|| StoreError::Exists(new.id.clone()))?,
        None => lock(db, id).await?,
    };
    let mut outcome = CommitOutcome::default();
    if let Some(append) = &changes.appended {
        // The key comes first: a retry gets its first answer also where the head has moved on since.
        if let Some(first) = repeated(db, no, append).await? {
            return Ok(CommitOutcome { appended: Some(first) });
        }
    }
    if let Some(job) = &changes.job
        && !enqueue(db, no, job).await?
        && jobs::job(db, no, &job.key).await?.is_none()
    {
        return Err(StoreError::OtherJob);
    }
    if let Some(append) = &changes.appended {
        outcome.appended = Some(append_events(db, no, append).await?);
    }
    for fold in &changes.folds {
        put_fold(db, no, fold).await?;
    }
    if let Some(active) = changes.active {
        activate(db, no, active.before, active.after).await?;
    }
    for call in &changes.calls {
        if !record_call(db, no, call).await? {
            return Err(StoreError::StaleCall { actual: last_call(db, no).await? });
        }
    }
    for usage in &changes.usages {
        settle_call(db, no, usage.call, &usage.usage).await?;
    }
    if let Some(change) = &changes.state
        && !save_state(db, no, change.version, &change.state).await?
    {
        let actual = session(db, no).await?.map_or(0, |row| row.state_version);
        return Err(StoreError::StaleState { expected: change.version, actual });
    }
    if let Some(identified) = changes.identity {
        identify(db, no, identified.identity, identified.events).await?;
    }
    Ok(outcome)
}

/// The number of a session, whose row no other commit changes until the transaction ends.
async fn lock<D: SqlConnection>(db: &mut D, id: &str) -> Result<i64, StoreError> {
    // PostgreSQL refuses text with a NUL character, even in a query.
    let sql = format!("SELECT no FROM sessions WHERE id = $1{}", D::CHANGE);
    let row = match id.contains('\0') {
        true => None,
        false => query(AssertSqlSafe(sql)).bind(id).maybe(db).await?,
    };
    integer_of(&row.ok_or_else(|| StoreError::NoSession(id.to_owned()))?, 0)
}

/// Takes the key of an append; the answer of an earlier append that had it, where it is taken.
async fn repeated<D: SqlConnection>(
    db: &mut D,
    no: i64,
    append: &AppendRequest,
) -> Result<Option<AppendOutcome>, StoreError> {
    let Some(key) = &append.key else { return Ok(None) };
    let count = append.events.len() as u64;
    let fresh = AppendOutcome { first: append.expected, count, repeated: false };
    let fingerprint = crate::check::fingerprint(&append.events);
    if take_key(db, no, key, fingerprint, fresh).await? {
        return Ok(None);
    }
    match answer(db, no, key).await? {
        Some((before, answer)) if before == fingerprint => Ok(Some(answer)),
        Some(_) => Err(StoreError::KeyReused(key.clone())),
        // A key goes only with its session, and the lock prevents that.
        None => Err(StoreError::Damaged(format!("the key `{key}` is gone"))),
    }
}

async fn append_events<D: SqlConnection>(
    db: &mut D,
    no: i64,
    append: &AppendRequest,
) -> Result<AppendOutcome, StoreError> {
    let AppendRequest { expected, events, now, .. } = append;
    let is_appended = match events.is_empty() {
        // An append of no events has no insert that would check the position.
        true => head(db, no).await? == *expected,
        false => db.insert_events(no, *expected, events, *now).await?,
    };
    match is_appended {
        true => Ok(AppendOutcome { first: *expected, count: events.len() as u64, repeated: false }),
        // The session is there, so the events were refused because they do not follow its head.
        false => Err(StoreError::Conflict { expected: *expected, actual: *expected }),
    }
}
