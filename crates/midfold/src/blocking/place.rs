//! An open store with the runtime that its futures run on.

use std::sync::Arc;

use midfold_store::{MemoryStore, Millis, SavedParts, SessionChanges, Store, StoreError};
use tokio::runtime::{Builder, Runtime};

use super::SessionError;
use crate::failure::{Door, Failure, FailureArea};
use crate::start::InMemory;

/// An open store with the runtime that its futures run on. The runtime uses the calling thread only, so that a process
/// which forks has no threads of midfold.
#[derive(Clone)]
pub struct StorePlace {
    store: Arc<dyn Store>,
    runtime: Arc<Runtime>,
    door: Door,
}

impl StorePlace {
    /// Opens a store, and makes it if it does not exist: `sqlite:PATH`, `postgres://…`, `memory`.
    ///
    /// # Errors
    /// If it cannot be opened or made.
    pub fn open(url: &str, door: Door) -> Result<Self, SessionError> {
        Self::driven(url, midfold_store::open(url), door)
    }

    /// Opens a store that has to exist.
    ///
    /// # Errors
    /// If it does not exist, or cannot be opened.
    pub fn existing(url: &str, door: Door) -> Result<Self, SessionError> {
        Self::driven(url, midfold_store::open_existing(url), door)
    }

    /// Takes a store that is open already and needs no runtime of its own, for example one in memory.
    ///
    /// # Errors
    /// If the system gives no runtime.
    pub fn over(store: Arc<dyn Store>, door: Door) -> Result<Self, SessionError> {
        Ok(Self { store, runtime: runtime()?, door })
    }

    /// Makes the runtime, and opens the store on it.
    fn driven(
        url: &str,
        opening: impl Future<Output = Result<Arc<dyn Store>, StoreError>>,
        door: Door,
    ) -> Result<Self, SessionError> {
        let runtime = runtime()?;
        let opened = runtime.block_on(opening);
        let store = opened.map_err(|error| crate::advise_open(url, error, door))?;
        Ok(Self { store, runtime, door })
    }

    /// Puts a session in memory into a new memory store, for code that reads a store. The messages' bytes are shared.
    pub(super) fn of_memory(memory: &InMemory, now: Millis) -> Result<Self, SessionError> {
        // A memory store waits for no timer and no socket, so the runtime drives neither.
        let runtime = Builder::new_current_thread().build().map_err(|error| {
            Failure::new(FailureArea::Store, format!("the log cannot be searched: {error}"))
        })?;
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        runtime.block_on(fill(&*store, memory, now))?;
        Ok(Self { store, runtime: Arc::new(runtime), door: Door::Command })
    }

    /// The door that opened it.
    pub(super) fn door(&self) -> Door {
        self.door
    }

    /// The store itself.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Runs a future that borrows the store, on this thread.
    pub fn block_on<'a, T, F: Future<Output = T>>(
        &'a self,
        work: impl FnOnce(&'a dyn Store) -> F,
    ) -> T {
        self.runtime.block_on(work(&*self.store))
    }

    pub(super) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

fn runtime() -> Result<Arc<Runtime>, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(FailureArea::Store, format!("the store cannot be driven: {error}"))
    })?;
    Ok(Arc::new(runtime))
}

/// Copies a session with its events and folds into a store.
async fn fill(store: &dyn Store, memory: &InMemory, now: Millis) -> Result<(), SessionError> {
    let InMemory { session, new, .. } = memory;
    let changes = SavedParts::default().changes(session, now)?;
    let created = Some(new.clone());
    store.commit(&new.id, &SessionChanges { created, ..changes }).await?;
    Ok(())
}
