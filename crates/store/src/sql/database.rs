//! A database that holds a store: its connections, and the numbers that its sessions have.

use std::ops::DerefMut;

use super::db::SqlConnection;
use super::{StoreNotes, sessions};
use crate::error::StoreError;
use crate::types::SessionRow;

/// A store in a database: where it is, and its connections.
pub trait SqlDatabase: Send + Sync {
    /// A connection.
    type Db: SqlConnection;
    /// Holds one that writes.
    type Writer<'a>: DerefMut<Target = Self::Db> + Send
    where
        Self: 'a;
    /// Holds one that reads.
    type Reader<'a>: DerefMut<Target = Self::Db> + Send
    where
        Self: 'a;

    /// Where it is, without a password.
    fn place(&self) -> &str;
    /// [`Store::is_there`].
    fn is_there(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// What it remembers.
    fn notes(&self) -> &StoreNotes;
    /// A connection that writes.
    fn writer(&self) -> impl Future<Output = Result<Self::Writer<'_>, StoreError>> + Send;
    /// A connection that reads.
    fn reader(&self) -> impl Future<Output = Result<Self::Reader<'_>, StoreError>> + Send;
    /// [`Store::scrub`].
    fn scrub(&self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The number of a session.
pub(super) async fn number<S: SqlDatabase>(store: &S, id: &str) -> Result<i64, StoreError> {
    if let Some(no) = store.notes().number(id) {
        return Ok(no);
    }
    let no = sessions::find_number(&mut *store.reader().await?, id).await?;
    store.notes().remember(id, no);
    Ok(no)
}

/// An error where the session of a remembered number was deleted, perhaps by another process, also
/// where there is a new one of its name: that one has another number. Asked where nothing was found.
pub(super) async fn still<S: SqlDatabase>(
    store: &S,
    db: &mut S::Db,
    id: &str,
    no: i64,
) -> Result<(), StoreError> {
    match sessions::find_number(db, id).await {
        Ok(now) if now == no => Ok(()),
        Ok(_) | Err(StoreError::NoSession(_)) => Err(gone(store, id)),
        Err(error) => Err(error),
    }
}

/// Forgets the number of a session that is not there any more.
pub(super) fn gone<S: SqlDatabase>(store: &S, id: &str) -> StoreError {
    store.notes().forget(id);
    StoreError::NoSession(id.to_owned())
}

/// The row of a session, by the number that is remembered or by the one that it has by now.
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
    row.map(|row| (no, row)).ok_or_else(|| gone(store, id))
}
