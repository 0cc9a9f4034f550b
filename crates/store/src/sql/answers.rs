//! Answers that later requests name, with the histories that they belong to.

use bytes::Bytes;
use midfold_core::Hash;

use super::db::{SqlConnection, SqlRow, query};
use super::failed;
use super::rows::number_of;
use crate::error::StoreError;
use crate::store::{MOST_ANSWERS, MOST_LONE_ANSWERS};
use crate::types::{AnswerHistory, Millis};

/// A number that no session has. Answers without a session are stored under it.
const NO_SESSION: i64 = 0;

/// Stores an answer. Returns false where there is no session with this number any more. The session cannot be deleted
/// in the meantime.
pub(super) async fn put<D: SqlConnection>(
    db: &mut D,
    key: Hash,
    no: Option<i64>,
    answer: &AnswerHistory,
    now: Millis,
) -> Result<bool, StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    if let Some(no) = no
        && !super::delete::hold(&mut *tx, no).await?
    {
        tx.rollback().await.map_err(failed)?;
        return Ok(false);
    }
    // Answers without a session share one number, so that group of all clients needs a larger bound.
    let most = if no.is_some() { MOST_ANSWERS } else { MOST_LONE_ANSWERS };
    let no = no.unwrap_or(NO_SESSION);
    query(
        "INSERT INTO answers (answer, session_no, events, rest, made) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (answer) DO UPDATE SET session_no = excluded.session_no, \
         events = excluded.events, rest = excluded.rest, made = excluded.made",
    )
    .bind(&key)
    .bind(no)
    .bind(answer.events)
    .bind(&answer.rest)
    .bind(now)
    .run(&mut *tx)
    .await?;
    query(
        // SQLite knows `OFFSET` only behind a `LIMIT`. Each call adds one row, so 1,000 is never reached.
        "DELETE FROM answers WHERE answer IN (SELECT answer FROM answers WHERE session_no = $1 \
         ORDER BY made DESC, answer LIMIT 1000 OFFSET $2)",
    )
    .bind(no)
    .bind(most)
    .run(&mut *tx)
    .await?;
    tx.commit().await.map_err(failed)?;
    Ok(true)
}

/// The history that was noted for an answer; `None` where none was.
pub(super) async fn answer<D: SqlConnection>(
    db: &mut D,
    key: Hash,
) -> Result<Option<AnswerHistory>, StoreError> {
    let row = query(
        "SELECT s.id, a.events, a.rest FROM answers a LEFT JOIN sessions s ON s.no = a.session_no \
         WHERE a.answer = $1",
    )
    .bind(&key)
    .maybe(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(AnswerHistory {
        session: row.text(0)?.map(str::to_owned),
        events: number_of(&row, 1)?,
        rest: Bytes::copy_from_slice(row.bytes(2)?.unwrap_or_default()),
    }))
}

/// How many answers without a session are older than `since`.
pub(super) async fn count_old<D: SqlConnection>(
    db: &mut D,
    since: Millis,
) -> Result<u64, StoreError> {
    let row = query("SELECT count(*) FROM answers WHERE session_no = $1 AND made < $2");
    number_of(&row.bind(NO_SESSION).bind(since).one(db).await?, 0)
}

/// Deletes the answers without a session that are older than `since`, and returns how many there were.
pub(super) async fn forget<D: SqlConnection>(db: &mut D, since: Millis) -> Result<u64, StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    let old = query("SELECT 1 FROM answers WHERE session_no = $1 AND made < $2 LIMIT 1");
    let old = old.bind(NO_SESSION).bind(since).maybe(&mut *tx).await?;
    if old.is_none() {
        tx.rollback().await.map_err(failed)?;
        return Ok(0);
    }
    // Answers have no words in the index, but this call also arranges that the deleted data is removed from the disk.
    tx.delete_words(NO_SESSION).await?;
    let deleted = query("DELETE FROM answers WHERE session_no = $1 AND made < $2")
        .bind(NO_SESSION)
        .bind(since)
        .run(&mut *tx)
        .await?;
    tx.commit().await.map_err(failed)?;
    Ok(deleted)
}
