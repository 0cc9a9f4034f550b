//! Events in a database, and the keys of appends.

use midfold_core::Hash;

use super::db::{SqlConnection, SqlRow, query};
use super::rows::{event_columns, event_row, hash_of, number_of, unsigned};
use crate::error::StoreError;
use crate::types::{AppendOutcome, EventRow};

/// The events of a range, as far as they exist.
pub(super) async fn events<D: SqlConnection>(
    db: &mut D,
    no: i64,
    range: &std::ops::Range<u64>,
) -> Result<Vec<EventRow>, StoreError> {
    let all = query(concat!(
        "SELECT ",
        event_columns!(),
        " FROM events e WHERE session_no = $1 AND seq >= $2 AND seq < $3 ORDER BY seq"
    ))
    .bind(no)
    .bind(range.start)
    .bind(range.end)
    .all(db)
    .await?;
    all.iter().map(event_row).collect()
}

/// The newest events of a range, the newest first. There are at most [`super::PAGE`] of them.
pub(super) async fn newest<D: SqlConnection>(
    db: &mut D,
    no: i64,
    range: &std::ops::Range<u64>,
) -> Result<Vec<EventRow>, StoreError> {
    let all = query(concat!(
        "SELECT ",
        event_columns!(),
        " FROM events e WHERE session_no = $1 AND seq >= $2 AND seq < $3 \
         ORDER BY seq DESC LIMIT $4"
    ))
    .bind(no)
    .bind(range.start)
    .bind(range.end)
    .bind(super::PAGE)
    .all(db)
    .await?;
    all.iter().map(event_row).collect()
}

/// The answer of an earlier append with this key, and that append's fingerprint. `None` where the key is free.
pub(super) async fn answer<D: SqlConnection>(
    db: &mut D,
    no: i64,
    key: &str,
) -> Result<Option<(Hash, AppendOutcome)>, StoreError> {
    let row = query(
        "SELECT fingerprint, first, count FROM append_keys \
         WHERE session_no = $1 AND key = $2",
    )
    .bind(no)
    .bind(key)
    .maybe(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let (first, count) = (number_of(&row, 1)?, number_of(&row, 2)?);
    Ok(Some((hash_of(&row, 0)?, AppendOutcome { first, count, repeated: true })))
}

/// Takes a key for an append. Returns false where the key is taken already.
pub(super) async fn take_key<D: SqlConnection>(
    db: &mut D,
    no: i64,
    key: &str,
    fingerprint: Hash,
    answer: AppendOutcome,
) -> Result<bool, StoreError> {
    let changed = query(
        "INSERT INTO append_keys (session_no, key, fingerprint, first, count) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
    )
    .bind(no)
    .bind(key)
    .bind(&fingerprint)
    .bind(answer.first)
    .bind(answer.count)
    .run(db)
    .await?;
    Ok(changed == 1)
}

/// The number of events; 0 also where there is no such session.
pub(super) async fn head<D: SqlConnection>(db: &mut D, no: i64) -> Result<u64, StoreError> {
    let row = query("SELECT max(seq) FROM events WHERE session_no = $1").bind(no);
    let row = row.one(db).await?;
    let last = row.integer(0)?;
    Ok(last.map_or(0, |last| unsigned(last) + 1))
}
