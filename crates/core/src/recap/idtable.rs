//! The table of identifiers and their uses. Most time of a cold compaction is spent here. So an identifier is hashed
//! once, most are stored inline, and a repetition within one text is not looked up again.

use std::hash::BuildHasher;

use compact_str::CompactString;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// How an identifier was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdUse {
    /// Whether somebody wrote it: a text or argument of the assistant, a message of the user, or an earlier recap.
    pub written: bool,
    /// Order of the last text that has it.
    pub last: u32,
    /// The place of the last use in [`IdTable::uses`].
    place: u32,
}

/// Identifiers by name, each with its uses.
#[derive(Clone, Debug)]
pub struct IdTable {
    /// The index of each identifier in `ids`.
    table: HashTable<u32>,
    ids: Vec<(CompactString, IdUse)>,
    /// The indices of the identifiers in the order of their uses. Only the last use of each counts.
    uses: Vec<u32>,
    /// The hashes seen last, each with the order of the text it was in.
    seen: Vec<(u64, u32)>,
}

/// Places in [`IdTable::seen`]; a power of two.
const SEEN: usize = 512;
/// Up to this many uses that no longer count are left before they are removed.
const OUTDATED: usize = 1 << 12;

impl Default for IdTable {
    fn default() -> Self {
        let (table, ids, uses) = (HashTable::new(), Vec::new(), Vec::new());
        Self { table, ids, uses, seen: vec![(0, 0); SEEN] }
    }
}

impl IdTable {
    /// Makes room for `more` identifiers, because growing the table step by step is expensive.
    pub fn reserve(&mut self, more: usize) {
        let ids = &self.ids;
        self.table.reserve(more, |at| hash(&ids[*at as usize].0));
    }

    /// Notes that the text with this `order`, which grows with each text from 1, has `id`. `written` says that somebody
    /// wrote the text.
    pub fn note(&mut self, id: &str, order: u32, written: bool) {
        let hash = hash(id);
        let place = &mut self.seen[usize::try_from(hash & (SEEN as u64 - 1)).unwrap_or(0)];
        if *place == (hash, order) {
            return;
        }
        *place = (hash, order);
        let at = self.index(id, hash);
        let Some((_, used)) = self.ids.get_mut(at as usize) else { return };
        used.written |= written;
        // The cache forgets names, so the use itself is asked, too.
        if used.last != order {
            (used.last, used.place) = (order, u32::try_from(self.uses.len()).unwrap_or(u32::MAX));
            self.uses.push(at);
            if self.uses.len() > 2 * self.ids.len() + OUTDATED {
                self.tidy();
            }
        }
    }

    /// The index of `id`, which is added where it is new.
    fn index(&mut self, id: &str, hash: u64) -> u32 {
        let Self { table, ids, .. } = self;
        let is_same = |at: &u32| ids[*at as usize].0 == id;
        if let Some(at) = table.find(hash, is_same) {
            return *at;
        }
        let at = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        table.insert_unique(hash, at, |at| self::hash(&ids[*at as usize].0));
        ids.push((id.into(), IdUse::default()));
        at
    }

    /// Removes the uses that no longer count.
    fn tidy(&mut self) {
        let mut uses = Vec::with_capacity(self.ids.len());
        for (place, at) in (0..).zip(std::mem::take(&mut self.uses)) {
            let Some((_, used)) = self.ids.get_mut(at as usize) else { continue };
            if used.place == place {
                used.place = u32::try_from(uses.len()).unwrap_or(u32::MAX);
                uses.push(at);
            }
        }
        self.uses = uses;
    }

    /// An identifier of the table and its use; `None` where it was never used.
    pub(super) fn get(&self, id: &str) -> Option<(&str, &IdUse)> {
        let at = self.table.find(hash(id), |at| self.ids[*at as usize].0 == id)?;
        self.ids.get(*at as usize).map(|(id, used)| (id.as_str(), used))
    }

    /// The identifiers with their uses, the last used first.
    pub fn newest(&self) -> impl Iterator<Item = (&str, &IdUse)> {
        let uses = self.uses.iter().enumerate().rev();
        uses.filter_map(|(place, at)| {
            let (id, used) = self.ids.get(*at as usize)?;
            (used.place as usize == place).then_some((id.as_str(), used))
        })
    }

    /// How many identifiers the table holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

fn hash(id: &str) -> u64 {
    FxBuildHasher.hash_one(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_use_decides_the_order() {
        let mut table = IdTable::default();
        for (id, order) in [("a.rs", 1), ("b.rs", 1), ("c.rs", 2), ("a.rs", 2), ("c.rs", 2)] {
            table.note(id, order, id == "b.rs");
        }
        let newest: Vec<_> = table.newest().map(|(id, used)| (id, used.written)).collect();
        assert_eq!(newest, [("a.rs", false), ("c.rs", false), ("b.rs", true)]);
        assert_eq!((table.len(), table.get("c.rs").map(|(_, used)| used.last)), (3, Some(2)));
    }

    #[test]
    fn uses_that_no_longer_count_do_not_pile_up() {
        let mut table = IdTable::default();
        table.note("first_1", 1, false);
        for order in 2..30_000 {
            table.note(if order % 2 == 0 { "even_1" } else { "odd_1" }, order, false);
        }
        assert!(table.uses.len() <= 2 * 3 + OUTDATED);
        let newest: Vec<_> = table.newest().map(|(id, _)| id).collect();
        assert_eq!(newest, ["odd_1", "even_1", "first_1"]);
    }
}
