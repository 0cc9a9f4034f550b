//! The parts of a conversation that a store has.

use midfold_store::{SavedParts, SessionChanges};

/// The parts of a conversation that a store has, as far as this process knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredParts {
    /// Whether the session is in the store.
    pub is_made: bool,
    /// The parts of the session that the store has.
    pub parts: SavedParts,
    /// Whether the conversation waits to be written.
    pub is_queued: bool,
    /// Whether writing has to stop, because the store has another history under this id, or the session was deleted
    /// there.
    pub is_foreign: bool,
}

impl StoredParts {
    /// Notes that these changes are stored.
    pub fn note(&mut self, changes: &SessionChanges) {
        self.is_made = true;
        self.parts.note(changes);
    }
}
