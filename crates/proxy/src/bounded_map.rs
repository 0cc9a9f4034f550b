//! A map with a fixed limit of entries.

use std::collections::{HashMap, VecDeque};

use midfold_core::Hash;

/// A map of at most `MOST` entries. A new entry replaces the oldest one.
pub(super) struct BoundedMap<V, const MOST: usize> {
    entries: HashMap<Hash, V>,
    /// The keys of all entries, each once, the oldest in front.
    order: VecDeque<Hash>,
}

impl<V, const MOST: usize> Default for BoundedMap<V, MOST> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new() }
    }
}

impl<V, const MOST: usize> BoundedMap<V, MOST> {
    /// Returns the value of a key.
    pub fn get(&self, key: &Hash) -> Option<&V> {
        self.entries.get(key)
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut(&mut self, key: &Hash) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    /// Returns the value of a key, which is added where there is none.
    pub fn get_or_default(&mut self, key: Hash) -> &mut V
    where
        V: Default,
    {
        if !self.entries.contains_key(&key) {
            self.insert(key, V::default());
        }
        self.entries.entry(key).or_default()
    }

    /// Adds an entry, or replaces the value of one; a replaced entry keeps its age.
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

    /// Removes an entry and returns its value.
    pub fn remove(&mut self, key: &Hash) -> Option<V> {
        let value = self.entries.remove(key)?;
        self.order.retain(|known| known != key);
        Some(value)
    }
}
