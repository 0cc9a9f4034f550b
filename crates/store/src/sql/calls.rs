//! The ledger in a database.

use midfold_core::Hash;
use sqlx::AssertSqlSafe;

use super::db::{SqlConnection, SqlQuery, query};
use super::rows::{call_row, hash_or_none, number_of};
use crate::error::StoreError;
use crate::types::{CallRow, NewCall};

/// Stores a call. Returns false where its number is not the next one, or there is no such session.
pub(super) async fn record_call<D: SqlConnection>(
    db: &mut D,
    no: i64,
    call: &NewCall,
) -> Result<bool, StoreError> {
    // A number that is taken and one that leaves a gap are both refused, so the ledger has no holes.
    let sql = format!(
        "INSERT INTO calls (session_no, number, head, fold, hash, made, body) \
         SELECT $1, $2, $3, $4, $5, $6, $7 WHERE $2 = \
         (SELECT coalesce(max(number), 0) + 1 FROM calls WHERE session_no = $1) \
         AND EXISTS (SELECT no FROM sessions WHERE no = $1{}) ON CONFLICT DO NOTHING",
        D::HOLD
    );
    let changed = query(AssertSqlSafe(sql))
        .bind(no)
        .bind(call.number)
        .bind(call.head)
        .bind(call.fold.as_ref())
        .bind(&call.hash)
        .bind(call.now)
        .bind(&call.body)
        .run(db)
        .await?;
    Ok(changed == 1)
}

/// The number of the newest call; 0 where there is none.
pub(super) async fn last_call<D: SqlConnection>(db: &mut D, no: i64) -> Result<u64, StoreError> {
    let row = query("SELECT coalesce(max(number), 0) FROM calls WHERE session_no = $1").bind(no);
    number_of(&row.one(db).await?, 0)
}

/// Records the usage of a call. The same usage again is no change.
pub(super) async fn settle_call<D: SqlConnection>(
    db: &mut D,
    no: i64,
    number: u64,
    usage: &str,
) -> Result<(), StoreError> {
    let changed = query(
        "UPDATE calls SET usage = $3 WHERE session_no = $1 AND number = $2 AND usage IS NULL",
    )
    .bind(no)
    .bind(number)
    .bind(usage)
    .run(db)
    .await?;
    if changed == 1 {
        return Ok(());
    }
    let recorded = call(db, no, Some(number)).await?.ok_or(StoreError::NoCall(number))?;
    match recorded.usage.as_deref() == Some(usage) {
        true => Ok(()),
        false => Err(StoreError::Settled(number)),
    }
}

/// The rows of a session's calls; `rest` is the end of the statement, behind the condition on the session.
fn selected<'q>(rest: &str) -> SqlQuery<'q> {
    query(AssertSqlSafe(format!(
        "SELECT number, head, fold, hash, made, usage, body FROM calls WHERE session_no = $1 {rest}"
    )))
}

/// The call with this number; with `None`, the newest one.
pub(super) async fn call<D: SqlConnection>(
    db: &mut D,
    no: i64,
    number: Option<u64>,
) -> Result<Option<CallRow>, StoreError> {
    let wanted = match number {
        Some(number) => selected("AND number = $2").bind(no).bind(number),
        None => selected("ORDER BY number DESC LIMIT 1").bind(no),
    };
    wanted.maybe(db).await?.as_ref().map(call_row).transpose()
}

pub(super) async fn calls<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Vec<CallRow>, StoreError> {
    let all = selected("ORDER BY number").bind(no).all(db).await?;
    all.iter().map(call_row).collect()
}

/// The folds through which calls were read, each with the lowest head of such a call.
pub(super) async fn requests<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Vec<(Option<Hash>, u64)>, StoreError> {
    let all = query(
        "SELECT fold, min(head) FROM calls WHERE session_no = $1 GROUP BY fold ORDER BY min(head)",
    );
    let rows = all.bind(no).all(db).await?;
    rows.iter().map(|row| Ok((hash_or_none(row, 0)?, number_of(row, 1)?))).collect()
}
