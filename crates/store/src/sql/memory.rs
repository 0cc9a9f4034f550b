//! Sessions in the memory of one process: the SQLite store without a file, so that one store has one set of rules.

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection as _, SqliteConnection};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use super::database::SqlDatabase;
use super::{StoreNotes, failed, sqlite};
use crate::error::StoreError;

/// Sessions in memory, for tests and for programs that keep no history. They are gone when the store is dropped.
#[derive(Default)]
pub struct MemoryStore {
    /// The only connection, because each connection to a database in memory has a database of its own. `None` until the
    /// first use.
    db: Mutex<Option<SqliteConnection>>,
    notes: StoreNotes,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    async fn connection(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, StoreError> {
        let mut guard = self.db.lock().await;
        match &mut *guard {
            // A future that was dropped in the middle of a transaction leaves it open; its rollback is queued.
            Some(db) if db.is_in_transaction() => db.ping().await.map_err(failed)?,
            Some(_) => {}
            empty => *empty = Some(open().await?),
        }
        MutexGuard::try_map(guard, Option::as_mut)
            .map_err(|_| StoreError::Damaged("a store in memory was not opened".to_owned()))
    }
}

/// Runs work on a store in memory to its end, for code that cannot wait for a future. It blocks this thread while
/// the database works, which has a thread of its own.
pub fn run_in_memory<T>(work: impl Future<Output = T>) -> T {
    futures_executor::block_on(work)
}

async fn open() -> Result<SqliteConnection, StoreError> {
    let options = SqliteConnectOptions::new()
        .synchronous(SqliteSynchronous::Off)
        .statement_cache_capacity(256)
        // Statements hold events, which must not get into a log.
        .disable_statement_logging();
    let mut db = options.connect().await.map_err(failed)?;
    sqlite::migrate(&mut db).await?;
    Ok(db)
}

impl SqlDatabase for MemoryStore {
    type Db = SqliteConnection;
    type Writer<'a> = MappedMutexGuard<'a, SqliteConnection>;
    type Reader<'a> = MappedMutexGuard<'a, SqliteConnection>;

    fn place(&self) -> &'static str {
        "memory"
    }

    fn notes(&self) -> &StoreNotes {
        &self.notes
    }

    async fn writer(&self) -> Result<Self::Writer<'_>, StoreError> {
        self.connection().await
    }

    async fn reader(&self) -> Result<Self::Reader<'_>, StoreError> {
        self.connection().await
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        // Nothing of it is on a disk.
        Ok(())
    }
}
