//! A database that holds a store: its connections, and the numbers of its sessions.

use std::ops::DerefMut;

use super::db::SqlConnection;
use super::{StoreNotes, sessions};
use crate::error::StoreError;
use crate::types::SessionRow;

/// A database that holds a store, with its connections.
pub trait SqlDatabase: Send + Sync {
    /// The type of a connection.
    type Db: SqlConnection;
    /// A guard for a connection that may write.
    type Writer<'a>: DerefMut<Target = Self::Db> + Send
    where
        Self: 'a;
    /// A guard for a connection that only reads.
    type Reader<'a>: DerefMut<Target = Self::Db> + Send
    where
        Self: 'a;

    /// The place of the store for messages, without a password.
    fn place(&self) -> &str;
    /// Fails where the store is not there any more: see [`Store::is_there`].
    fn is_there(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Fails where the disk is full: see [`Store::has_room`].
    fn has_room(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Numbers and counts that the store keeps in memory.
    fn notes(&self) -> &StoreNotes;
    /// A connection that may write.
    fn writer(&self) -> impl Future<Output = Result<Self::Writer<'_>, StoreError>> + Send;
    /// A connection for reading.
    fn reader(&self) -> impl Future<Output = Result<Self::Reader<'_>, StoreError>> + Send;
    /// Removes traces of deleted data: see [`Store::scrub`].
    fn scrub(&self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The number of a session in the database.
pub(super) async fn number<S: SqlDatabase>(store: &S, id: &str) -> Result<i64, StoreError> {
    if let Some(no) = store.notes().number(id) {
        return Ok(no);
    }
    let no = sessions::find_number(&mut *store.reader().await?, id).await?;
    store.notes().remember(id, no);
    Ok(no)
}

/// Fails where the session with this remembered number was deleted, perhaps by another process. A new session with the
/// same id does not count, because it has another number. Called where a query found nothing.
pub(super) async fn still<S: SqlDatabase>(
    store: &S,
    db: &mut S::Db,
    id: &str,
    no: i64,
) -> Result<(), StoreError> {
    match sessions::find_number(db, id).await {
        Ok(now) if now == no => Ok(()),
        Ok(_) | Err(StoreError::NoSession(_)) => Err(no_session(store, id)),
        Err(error) => Err(error),
    }
}

/// The error for a session that is gone. Its remembered number is forgotten.
pub(super) fn no_session<S: SqlDatabase>(store: &S, id: &str) -> StoreError {
    store.notes().forget(id);
    StoreError::NoSession(id.to_owned())
}

/// The row of a session. The remembered number is tried first, and then the current one.
pub(super) async fn row<S: SqlDatabase>(
    store: &S,
    id: &str,
) -> Result<(i64, SessionRow), StoreError> {
    let mut db = store.reader().await?;
    if let Some(no) = store.notes().number(id)
        && let Some(row) = sessions::session(&mut *db, no).await?
    {
        return Ok((no, row));
    }
    let no = sessions::find_number(&mut *db, id).await.inspect_err(|_| store.notes().forget(id))?;
    store.notes().remember(id, no);
    let row = sessions::session(&mut *db, no).await?;
    row.map(|row| (no, row)).ok_or_else(|| no_session(store, id))
}
