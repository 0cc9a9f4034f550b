//! Windows of models, as providers stated them.

use midfold_core::Hash;

use super::db::{SqlConnection, query};
use super::failed;
use super::rows::number_of;
use crate::error::StoreError;
use crate::store::MOST_WINDOWS;
use crate::types::{LearnedWindow, Millis};

/// Notes a window. Above [`MOST_WINDOWS`], the oldest are dropped.
pub(super) async fn put<D: SqlConnection>(
    db: &mut D,
    key: Hash,
    window: &LearnedWindow,
) -> Result<(), StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    query(
        "INSERT INTO windows (source, tokens, counts_reply, learned) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (source) DO UPDATE SET tokens = excluded.tokens, \
         counts_reply = excluded.counts_reply, learned = excluded.learned",
    )
    .bind(&key)
    .bind(window.tokens)
    .bind(u64::from(window.counts_reply))
    .bind(window.learned)
    .run(&mut *tx)
    .await?;
    // Only the newest ones stay. SQLite needs a limit before an offset; one call adds one row, so few are ever behind it.
    query(
        "DELETE FROM windows WHERE source IN (SELECT source FROM windows \
         ORDER BY learned DESC, source LIMIT 1000 OFFSET $1)",
    )
    .bind(MOST_WINDOWS)
    .run(&mut *tx)
    .await?;
    tx.commit().await.map_err(failed)
}

/// Raises a noted window to at least this many tokens.
pub(super) async fn raise<D: SqlConnection>(
    db: &mut D,
    key: Hash,
    tokens: u64,
) -> Result<(), StoreError> {
    query("UPDATE windows SET tokens = $2 WHERE source = $1 AND tokens < $2")
        .bind(&key)
        .bind(tokens)
        .run(db)
        .await
        .map(drop)
}

/// The window that was noted for this key; `None` where none was.
pub(super) async fn window<D: SqlConnection>(
    db: &mut D,
    key: Hash,
) -> Result<Option<LearnedWindow>, StoreError> {
    let row = query("SELECT tokens, counts_reply, learned FROM windows WHERE source = $1")
        .bind(&key)
        .maybe(db)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(LearnedWindow {
        tokens: number_of(&row, 0)?,
        counts_reply: number_of(&row, 1)? != 0,
        learned: number_of(&row, 2)?,
    }))
}

/// How many windows were learned at `since` or later.
pub(super) async fn count<D: SqlConnection>(db: &mut D, since: Millis) -> Result<u64, StoreError> {
    let row = query("SELECT count(*) FROM windows WHERE learned >= $1").bind(since).one(db).await?;
    number_of(&row, 0)
}
