//! Folds in a database.

use midfold_core::Hash;
use sqlx::AssertSqlSafe;

use super::db::{SqlConnection, SqlRow, query};
use super::delete::hold;
use super::rows::{fold_columns, fold_from, fold_row, hash_or_none, runs_text, session_row};
use crate::error::StoreError;
use crate::types::{FoldRow, NewFold, PutOutcome, SessionRow};

/// A session and its active fold; `None` where there is no such session.
pub(super) async fn session_and_fold<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<(SessionRow, Option<FoldRow>)>, StoreError> {
    // One statement, so that the session, its head and its fold are of the same moment.
    let found = query(
        "SELECT s.id, s.dialect, s.profile, s.counter, s.policy, s.meta, s.created, \
         s.active, s.state, s.state_version, e.seq, e.hash, e.turn, f.number, f.id, \
         f.span_start, f.span_end, f.hash_before, f.hash_end, f.policy, f.recap, f.kept, \
         f.made, f.body FROM sessions s \
         LEFT JOIN events e ON e.session_no = s.no AND e.seq = \
         (SELECT max(seq) FROM events WHERE session_no = s.no) \
         LEFT JOIN folds f ON f.session_no = s.no AND f.id = s.active WHERE s.no = $1",
    )
    .bind(no)
    .maybe(db)
    .await?;
    let Some(found) = found else { return Ok(None) };
    let there = found.integer(13)?;
    let fold = there.map(|_| fold_from(&found, 13)).transpose()?;
    Ok(Some((session_row(&found)?, fold)))
}

/// The folds of a session, in the order in which they were stored.
pub(super) async fn folds<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Vec<FoldRow>, StoreError> {
    let all = query(concat!(
        "SELECT ",
        fold_columns!(),
        " FROM folds WHERE session_no = $1 ORDER BY number"
    ))
    .bind(no)
    .all(db)
    .await?;
    all.iter().map(fold_row).collect()
}

/// The fold with this id; `None` where the session has no such fold.
pub(super) async fn fold<D: SqlConnection>(
    db: &mut D,
    no: i64,
    id: Hash,
) -> Result<Option<FoldRow>, StoreError> {
    let found =
        query(concat!("SELECT ", fold_columns!(), " FROM folds WHERE session_no = $1 AND id = $2"))
            .bind(no)
            .bind(&id)
            .maybe(db)
            .await?;
    found.as_ref().map(fold_row).transpose()
}

/// Stores a fold; `None` where there is no such session.
pub(super) async fn put_fold<D: SqlConnection>(
    db: &mut D,
    no: i64,
    new: &NewFold,
) -> Result<Option<PutOutcome>, StoreError> {
    // An insert fails only because another fold took the number, so each round makes progress for somebody.
    loop {
        // `HAVING`, because an aggregate returns a row even without folds, and a `WHERE` could not suppress it for a
        // session that does not exist.
        let sql = format!(
            "INSERT INTO folds (session_no, {}) SELECT $1, coalesce(max(number), 0) + 1, \
             $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM folds WHERE session_no = $1 \
             HAVING EXISTS (SELECT no FROM sessions WHERE no = $1{}) ON CONFLICT DO NOTHING",
            fold_columns!(),
            D::HOLD
        );
        let done = query(AssertSqlSafe(sql))
            .bind(no)
            .bind(&new.id)
            .bind(new.start)
            .bind(new.end)
            .bind(&new.before)
            .bind(&new.through)
            .bind(&new.policy)
            .bind(&new.recap)
            .bind(runs_text(&new.kept))
            .bind(new.now)
            .bind(&new.body)
            .run(db)
            .await?;
        if done == 1 {
            return Ok(Some(PutOutcome::New));
        }
        if fold(db, no, new.id).await?.is_some() {
            return Ok(Some(PutOutcome::Same));
        }
        // Neither new nor stored: the session is gone, or another fold took the number and this one tries the next.
        if !hold(db, no).await? {
            return Ok(None);
        }
    }
}

/// Makes a fold the active one, where `expected` is still active. Fails with the active fold otherwise.
pub(super) async fn activate<D: SqlConnection>(
    db: &mut D,
    no: i64,
    expected: Option<Hash>,
    wanted: Option<Hash>,
) -> Result<(), StoreError> {
    if let Some(id) = wanted
        && fold(db, no, id).await?.is_none()
    {
        return Err(StoreError::NoFold(id));
    }
    let done = query(
        // `=` is never true for NULL, which means that no fold is active.
        "UPDATE sessions SET active = $2 \
         WHERE no = $1 AND active IS NOT DISTINCT FROM $3",
    )
    .bind(no)
    .bind(wanted.as_ref())
    .bind(expected.as_ref())
    .run(db)
    .await?;
    if done == 1 {
        return Ok(());
    }
    let row = query("SELECT active FROM sessions WHERE no = $1").bind(no);
    let row = row.maybe(db).await?;
    let actual = row.map(|row| hash_or_none(&row, 0)).transpose()?.flatten();
    Err(StoreError::StaleFold { actual })
}
