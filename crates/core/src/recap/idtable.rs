//! The table of identifiers and their uses. Most time of a cold compaction is spent here. So an identifier is hashed
//! once, most are stored inline, and a repetition within one text is not looked up again.

use std::hash::BuildHasher;

use compact_str::CompactString;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// How an identifier was used. Each text counts once, because a name that one listing repeats is no more likely to
/// be needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdUse {
    /// In how many texts and arguments of the assistant it occurs.
    pub said: u32,
    /// In how many messages of the user it occurs.
    pub user: u32,
    /// In how many results it occurs.
    pub result: u32,
    /// Order of the last use, which grows with each text.
    pub last: u32,
    /// Order of the first use, which decides between equals.
    pub first: u32,
    /// The weight that an earlier recap handed on.
    pub carried: u32,
    /// Number of the message that used it last.
    pub message: u32,
}

/// Identifiers by name, each with its uses.
#[derive(Clone, Debug)]
pub struct IdTable {
    table: HashTable<(CompactString, IdUse)>,
    /// The hashes seen last, each with the order of the text it was in.
    seen: Vec<(u64, u32)>,
}

/// Places in [`IdTable::seen`]; a power of two.
const SEEN: usize = 512;

impl Default for IdTable {
    fn default() -> Self {
        Self { table: HashTable::new(), seen: vec![(0, 0); SEEN] }
    }
}

impl IdTable {
    /// Makes room for `more` identifiers, because growing the table step by step is expensive.
    pub fn reserve(&mut self, more: usize) {
        self.table.reserve(more, |(id, _)| hash(id));
    }

    /// The use of `id` in the text with this `order`, for the caller to count. `None` where the same text had the
    /// identifier already.
    pub fn once(&mut self, id: &str, order: u32) -> Option<&mut IdUse> {
        let hash = hash(id);
        let place = &mut self.seen[usize::try_from(hash & (SEEN as u64 - 1)).unwrap_or(0)];
        if *place == (hash, order) {
            return None;
        }
        *place = (hash, order);
        let used = self.entry(id, hash, order);
        // The cache forgets names, so the use itself is asked, too. A new name has this order already, but no use.
        let fresh = used.last != order || (used.said | used.user | used.result) == 0;
        used.last = order;
        fresh.then_some(used)
    }

    /// The use of `id`. A new identifier gets `order` as its first and last use.
    pub fn get_or_new(&mut self, id: &str, order: u32) -> &mut IdUse {
        self.entry(id, hash(id), order)
    }

    fn entry(&mut self, id: &str, hash: u64, order: u32) -> &mut IdUse {
        let fresh = || (id.into(), IdUse { first: order, last: order, ..IdUse::default() });
        let entry = self.table.entry(hash, |(known, _)| known == id, |(id, _)| self::hash(id));
        &mut entry.or_insert_with(fresh).into_mut().1
    }

    /// An identifier of the table and its use; `None` where it was never used.
    pub(super) fn get(&self, id: &str) -> Option<(&str, &IdUse)> {
        let found = self.table.find(hash(id), |(known, _)| known == id)?;
        Some((found.0.as_str(), &found.1))
    }

    /// All identifiers and their uses, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &IdUse)> {
        self.table.iter().map(|(id, used)| (id.as_str(), used))
    }

    /// How many identifiers the table holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

fn hash(id: &str) -> u64 {
    FxBuildHasher.hash_one(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_once_a_text() {
        let mut table = IdTable::default();
        for (id, order) in [("a.rs", 1), ("a.rs", 1), ("b.rs", 1), ("a.rs", 2)] {
            if let Some(used) = table.once(id, order) {
                used.said += 1;
            }
        }
        let found: std::collections::BTreeMap<_, _> = table.iter().collect();
        assert_eq!((found["a.rs"].said, found["a.rs"].first, found["a.rs"].last), (2, 1, 2));
        assert_eq!((found["b.rs"].said, table.len()), (1, 2));
    }
}
