//! A cache of open sessions. A client that looks at a session sends many requests, and loading it once is enough.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midfold::core::hooks::FoldHooks;
use midfold::store::{Store, StoredError, StoredSession};
use tokio::sync::{Mutex as AsyncMutex, OwnedMappedMutexGuard, OwnedMutexGuard};

/// The most sessions that stay open.
const SESSIONS: usize = 32;
/// The most messages of all open sessions together, because memory grows with the messages.
const MESSAGES: u64 = 400_000;

/// An open session, locked for one request.
pub(crate) type LockedSession = OwnedMappedMutexGuard<Option<StoredSession>, StoredSession>;

type SessionSlot = Arc<AsyncMutex<Option<StoredSession>>>;

struct OpenedEntry {
    id: String,
    messages: u64,
    slot: SessionSlot,
}

/// The open sessions, in the order of last use.
#[derive(Default)]
pub(crate) struct OpenedSessions {
    entries: Mutex<Vec<OpenedEntry>>,
    /// The hooks of the host, which are called at folds.
    hooks: Option<Arc<dyn FoldHooks>>,
}

impl OpenedSessions {
    /// An empty cache. `hooks` are called at the folds of its sessions.
    pub fn new(hooks: Option<Arc<dyn FoldHooks>>) -> Self {
        Self { entries: Mutex::default(), hooks }
    }

    /// Opens a session, in its present state in the store.
    ///
    /// # Errors
    /// If there is no session with this id, or if the store fails.
    pub async fn open(
        &self,
        store: &Arc<dyn Store>,
        id: &str,
    ) -> Result<LockedSession, StoredError> {
        let slot = self.slot(id);
        let mut guard = Arc::clone(&slot).lock_owned().await;
        // Taken out of its slot: a refresh that fails or panics leaves an empty slot, and not a session that was
        // read half.
        let stored = match guard.take() {
            Some(mut stored) => match stored.refresh().await {
                Ok(()) => Ok(stored),
                // The session may have been deleted and created again, so it is loaded anew.
                Err(_) => StoredSession::open(Arc::clone(store), id).await,
            },
            None => StoredSession::open(Arc::clone(store), id).await,
        };
        let stored = stored.map(|stored| stored.with_hooks(self.hooks.clone()));
        let stored = stored.inspect_err(|_| self.close(id))?;
        self.note(id, stored.row().head);
        let session = guard.insert(stored);
        debug_assert_eq!(session.row().new.id, id, "a slot holds its session");
        OwnedMutexGuard::try_map(guard, Option::as_mut)
            .map_err(|_| StoredError::Busy(id.to_owned()))
    }

    /// Lets a session go: it was deleted, or cannot be read.
    pub fn close(&self, id: &str) {
        self.lock().retain(|entry| entry.id != id);
    }

    /// The slot of a session, which becomes the last one used. An empty slot is made if there is none.
    fn slot(&self, id: &str) -> SessionSlot {
        let mut all = self.lock();
        let at = all.iter().position(|entry| entry.id == id);
        let entry = match at {
            Some(at) => all.remove(at),
            None => OpenedEntry { id: id.to_owned(), messages: 0, slot: SessionSlot::default() },
        };
        let slot = Arc::clone(&entry.slot);
        all.push(entry);
        slot
    }

    /// Notes how large a session is, and lets go of those that were asked for longest ago.
    fn note(&self, id: &str, messages: u64) {
        let mut all = self.lock();
        if let Some(entry) = all.iter_mut().find(|entry| entry.id == id) {
            entry.messages = messages;
        }
        // The session that was just opened stays, however large it is. One that another request has locked may go: that
        // request keeps its slot alive.
        while all.len() > 1
            && (all.len() > SESSIONS
                || all.iter().map(|entry| entry.messages).sum::<u64>() > MESSAGES)
        {
            all.remove(0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<OpenedEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
