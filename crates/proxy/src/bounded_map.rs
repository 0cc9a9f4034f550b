//! A map that holds so many entries and no more.

use std::collections::{HashMap, VecDeque};

use midfold_core::Hash;

/// At most `MOST` entries: the oldest goes first.
pub(super) struct BoundedMap<V, const MOST: usize> {
    entries: HashMap<Hash, V>,
    /// The keys, the oldest in front: those of the entries, each once.
    order: VecDeque<Hash>,
}

impl<V, const MOST: usize> Default for BoundedMap<V, MOST> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new() }
    }
}

impl<V, const MOST: usize> BoundedMap<V, MOST> {
    /// The entry of a key.
    pub fn get(&self, key: &Hash) -> Option<&V> {
        self.entries.get(key)
    }

    /// Adds an entry, or puts another value into it.
    pub fn insert(&mut self, key: Hash, value: V) {
        if self.entries.insert(key, value).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MOST {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.entries.remove(&oldest));
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &Hash) -> Option<V> {
        let value = self.entries.remove(key)?;
        self.order.retain(|known| known != key);
        Some(value)
    }
}
