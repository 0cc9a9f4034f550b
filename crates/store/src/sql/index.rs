//! The word index, which is filled when somebody searches.

use std::ops::Range;

use super::db::{SqlConnection, query};
use super::events::head;
use super::failed;
use super::rows::number_of;
use crate::error::StoreError;

/// How many events of a session are indexed, and how many its log has. `None` where there is no such session.
pub(super) async fn indexed<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<(u64, u64)>, StoreError> {
    let row = query("SELECT indexed FROM sessions WHERE no = $1").bind(no);
    let Some(row) = row.maybe(db).await? else { return Ok(None) };
    Ok(Some((number_of(&row, 0)?, head(db, no).await?)))
}

/// Adds the words of the events of a page to the index, if the index still ends where the page begins. The page counts
/// as indexed even where events of it are missing: no search can find them, and none would ever end otherwise.
pub(super) async fn index<D: SqlConnection>(
    db: &mut D,
    no: i64,
    page: &Range<u64>,
    texts: &[(u64, Vec<String>)],
) -> Result<(), StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    // First, because it locks the row: of two searches that read the same events, only one adds their words.
    let moved = query("UPDATE sessions SET indexed = $3 WHERE no = $1 AND indexed = $2")
        .bind(no)
        .bind(page.start)
        .bind(page.end)
        .run(&mut *tx)
        .await?;
    if moved == 0 {
        // Another search has indexed these events already.
        return tx.rollback().await.map_err(failed);
    }
    for (seq, words) in texts {
        tx.insert_words(no, *seq, words).await?;
    }
    tx.commit().await.map_err(failed)
}
