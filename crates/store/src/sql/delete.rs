//! Deletes sessions.
//!
//! A transaction that adds a row for a session holds the session's row until it ends ([`SqlConnection::HOLD`]). A
//! deletion locks that row first ([`SqlConnection::TAKE`]). So no row of a deleted session is left behind or added
//! later, whatever workers or other nodes do at the same time.

use sqlx::AssertSqlSafe;

use super::db::{SqlConnection, SqlRow, query};
use super::failed;
use super::rows::{integer_of, number_of, unsigned};
use crate::error::StoreError;
use crate::types::{Millis, SessionExtent};

/// Deletes the rows of a session from each table, except the words in the index.
const OF_A_SESSION: [&str; 8] = [
    "DELETE FROM events WHERE session_no = $1",
    "DELETE FROM append_keys WHERE session_no = $1",
    "DELETE FROM folds WHERE session_no = $1",
    "DELETE FROM jobs WHERE session_no = $1",
    "DELETE FROM calls WHERE session_no = $1",
    "DELETE FROM identities WHERE session_no = $1",
    "DELETE FROM answers WHERE session_no = $1",
    // This table comes last, because its triggers change it after each change of another table.
    "DELETE FROM activity WHERE session_no = $1",
];

/// Holds a session until the transaction ends. Returns false where it does not exist.
pub(super) async fn hold<D: SqlConnection>(db: &mut D, no: i64) -> Result<bool, StoreError> {
    let sql = format!("SELECT no FROM sessions WHERE no = $1{}", D::HOLD);
    Ok(query(AssertSqlSafe(sql)).bind(no).maybe(db).await?.is_some())
}

/// Locks the session of a job as a commit does, so that both lock its other rows in turn.
pub(super) async fn hold_session_of<D: SqlConnection>(
    db: &mut D,
    job: u64,
) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT no FROM sessions WHERE no = (SELECT session_no FROM jobs WHERE id = $1){}",
        D::CHANGE
    );
    Ok(query(AssertSqlSafe(sql)).bind(job).maybe(db).await?.is_some())
}

/// The extent of a session; `None` where there is no such session.
pub(super) async fn extent<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<SessionExtent>, StoreError> {
    let row = query(
        "SELECT s.id, s.created, \
         (SELECT made FROM events WHERE session_no = s.no ORDER BY seq DESC LIMIT 1), \
         (SELECT max(made) FROM folds WHERE session_no = s.no), \
         (SELECT max(made) FROM calls WHERE session_no = s.no), \
         (SELECT count(*) FROM events WHERE session_no = s.no), \
         (SELECT count(*) FROM folds WHERE session_no = s.no), \
         (SELECT count(*) FROM calls WHERE session_no = s.no), \
         (SELECT count(*) FROM jobs WHERE session_no = s.no), \
         (SELECT coalesce(sum(octet_length(bytes)), 0) FROM events WHERE session_no = s.no), \
         (SELECT coalesce(sum(octet_length(body) + coalesce(octet_length(packed), 0)), 0) FROM folds WHERE session_no = s.no), \
         (SELECT coalesce(sum(octet_length(body)), 0) FROM calls WHERE session_no = s.no), \
         (SELECT coalesce(sum(octet_length(body)), 0) FROM jobs WHERE session_no = s.no) \
         FROM sessions s WHERE s.no = $1",
    )
    .bind(no)
    .maybe(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let mut changed = 0;
    for at in 1..5 {
        changed = changed.max(row.integer(at)?.map_or(0, unsigned));
    }
    let mut bytes = 0;
    for at in 9..13 {
        bytes += number_of(&row, at)?;
    }
    Ok(Some(SessionExtent {
        session: row.text(0)?.unwrap_or_default().to_owned(),
        events: number_of(&row, 5)?,
        folds: number_of(&row, 6)?,
        calls: number_of(&row, 7)?,
        jobs: number_of(&row, 8)?,
        bytes,
        changed,
    }))
}

/// The ids after `after` of sessions whose last event, fold and call came before `since`.
pub(super) async fn idle<D: SqlConnection>(
    db: &mut D,
    since: Millis,
    after: &str,
    limit: u32,
) -> Result<Vec<String>, StoreError> {
    let all = query(
        "SELECT s.id FROM sessions s WHERE s.id > $2 AND s.created < $1 \
         AND coalesce((SELECT made FROM events WHERE session_no = s.no \
         ORDER BY seq DESC LIMIT 1), 0) < $1 \
         AND coalesce((SELECT max(made) FROM folds WHERE session_no = s.no), 0) < $1 \
         AND coalesce((SELECT max(made) FROM calls WHERE session_no = s.no), 0) < $1 \
         ORDER BY s.id LIMIT $3",
    )
    .bind(since)
    .bind(after)
    .bind(limit)
    .all(db)
    .await?;
    all.iter().map(|row| Ok(row.text(0)?.unwrap_or_default().to_owned())).collect()
}

/// Deletes a session. `None` where there is no such session.
pub(super) async fn delete<D: SqlConnection>(
    db: &mut D,
    id: &str,
    idle_since: Option<Millis>,
) -> Result<Option<SessionExtent>, StoreError> {
    if id.contains('\0') {
        return Ok(None);
    }
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    let sql = format!("SELECT no FROM sessions WHERE id = $1{}", D::TAKE);
    let number_row = query(AssertSqlSafe(sql)).bind(id).maybe(&mut *tx).await?;
    let no = number_row.as_ref().map(|row| integer_of(row, 0)).transpose()?;
    // The extent is read after the row is locked, so nothing can be added any more.
    let extent = match no {
        Some(no) => extent(&mut *tx, no).await?,
        None => None,
    };
    let (Some(no), Some(extent)) = (no, extent) else {
        tx.rollback().await.map_err(failed)?;
        return Ok(None);
    };
    // The caller's list of idle sessions was read before the lock, and the session may have gone on since.
    if idle_since.is_some_and(|since| extent.changed >= since) {
        tx.rollback().await.map_err(failed)?;
        return Err(StoreError::Changed(id.to_owned()));
    }
    tx.delete_words(no).await?;
    for statement in OF_A_SESSION {
        query(statement).bind(no).run(&mut *tx).await?;
    }
    query("DELETE FROM sessions WHERE no = $1").bind(no).run(&mut *tx).await?;
    tx.commit().await.map_err(failed)?;
    Ok(Some(extent))
}
