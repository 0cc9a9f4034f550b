//! What a store has of a conversation.

use midfold_core::Hash;

/// What a store knows of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredParts {
    pub is_made: bool,
    pub events: usize,
    pub folds: usize,
    pub active: Option<Hash>,
    pub state: String,
    pub version: u64,
    /// Waits to be written.
    pub is_queued: bool,
    /// The store has another history under this name, or had this one deleted: nothing of ours is written there.
    pub is_foreign: bool,
}

impl StoredParts {
    /// So many events and folds more were written, and what came with them.
    pub fn wrote(
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
