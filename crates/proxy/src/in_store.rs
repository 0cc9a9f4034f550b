//! What a conversation in memory is beside the session in a store.

use midfold_store::IdentifiedSession;

use super::conversation::ProxyConversation;

impl ProxyConversation {
    /// Its id; `None` if it is not in a store yet.
    pub fn stored_id(&self) -> Option<&str> {
        self.saved.is_made.then(|| self.session.id())
    }

    /// Whether the store has nothing of a history that is missing here. `stored` is the session in the store, and the
    /// first `at` messages here belong to the history.
    pub fn is_current(&self, at: usize, stored: &IdentifiedSession) -> bool {
        if stored.id != self.session.id() {
            return at as u64 >= stored.events;
        }
        let active = self.session.active().map(|fold| fold.id);
        // The store has the fold that is active here, or the one that was active at this process's last write.
        !self.saved.is_foreign
            && (stored.active == active || stored.active == self.saved.parts.active)
    }

    /// Whether another process has written the session's state since this one did.
    pub fn is_changed_in(&self, stored: &IdentifiedSession) -> bool {
        stored.id == self.session.id() && stored.state_version > self.saved.parts.version
    }

    /// Stops writing to the session with this id, because another value in memory holds it from now on.
    pub fn give_way(&mut self, id: &str) {
        self.saved.is_foreign |= self.session.id() == id;
    }
}
