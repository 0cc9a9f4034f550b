//! The parts of a conversation that a store has.

use midfold_core::Hash;

/// The parts of a conversation that a store has, as far as this process knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredParts {
    /// Whether the session is in the store.
    pub is_made: bool,
    /// How many events the store has.
    pub events: usize,
    /// How many folds the store has.
    pub folds: usize,
    /// The id of the active fold in the store.
    pub active: Option<Hash>,
    /// The session's state in the store, as JSON.
    pub state: String,
    /// The version of that state, which rises with each write by any process.
    pub version: u64,
    /// Whether the conversation waits to be written.
    pub is_queued: bool,
    /// Whether writing has to stop, because the store has another history under this id, or the session was deleted
    /// there.
    pub is_foreign: bool,
}

impl StoredParts {
    /// Notes a successful write: `events` and `folds` are the numbers of new ones.
    pub fn note_written(
        &mut self,
        events: usize,
        folds: usize,
        active: Option<Hash>,
        state: String,
        version: u64,
    ) {
        self.is_made = true;
        self.events += events;
        self.folds += folds;
        self.active = active;
        self.state = state;
        self.version = version;
    }
}
