//! Ids of conversations that have only begun. A request without an answer of the model is no conversation yet; its
//! answer has an id all the same, and the request that goes on with that answer begins the conversation with it.
//! Another process has not promised it, and begins the conversation with an id of its own.

use std::collections::{HashMap, VecDeque};

use midfold_core::Hash;

/// Ids that are promised at most; the oldest go first.
const MOST: usize = 4_096;

/// The promised ids, by what the conversations begin with.
#[derive(Default)]
pub(super) struct PromisedIds {
    ids: HashMap<Hash, String>,
    order: VecDeque<Hash>,
}

impl PromisedIds {
    /// The id for a conversation that begins so. A request that is sent once more gets the same one.
    pub fn promise(&mut self, opening: Hash, id: impl FnOnce() -> String) -> String {
        if let Some(promised) = self.ids.get(&opening) {
            return promised.clone();
        }
        let id = id();
        self.ids.insert(opening, id.clone());
        self.order.push_back(opening);
        while self.order.len() > MOST {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.ids.remove(&oldest));
        }
        id
    }

    /// The id that was promised to a conversation that begins so: no other one gets it from now on.
    pub fn take(&mut self, opening: Hash) -> Option<String> {
        self.ids.remove(&opening)
    }
}
