//! The fabric: what became of every event, fold by fold.

use std::collections::BTreeMap;

use midfold_core::fabric::FabricCell;
use rustc_hash::FxHashMap;

use crate::replay::drive::{ReplayFold, SentMessage};

/// One fold and what every event before it had become.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldRow {
    /// Events of history when it was made.
    pub at: usize,
    /// Tokens of the context before and after.
    pub before: u64,
    /// After.
    pub after: u64,
    /// One a run of events, in order: what they became and how many.
    pub fates: Vec<(FabricCell, u32)>,
    /// Why, where there is more to say than the fate and no earlier fold said just that: what one
    /// said stands until another says something else.
    pub why: BTreeMap<u32, String>,
    /// The text that stands for what left.
    pub recap: Option<String>,
    /// Its tokens.
    pub recap_tokens: u64,
}

/// What has become of every event so far.
#[derive(Default)]
pub(super) struct FateFabric {
    cells: Vec<FabricCell>,
    /// The newest reason of each.
    why: BTreeMap<u32, String>,
}

impl FateFabric {
    /// `items`: all that is sent.
    pub fn fold<'a>(
        &mut self,
        at: usize,
        items: impl Iterator<Item = &'a SentMessage>,
        folded: &ReplayFold,
    ) -> FoldRow {
        let gone = if folded.recap.is_some() { FabricCell::Recap } else { FabricCell::Marker };
        self.cells.resize(at, FabricCell::Verbatim);
        let mut edits = FxHashMap::default();
        let mut why = BTreeMap::new();
        for (seq, reducer, reason) in &folded.edits {
            edits.entry(*seq).or_insert(reducer.as_str());
            why.insert(*seq, format!("{reducer}: {reason}"));
        }
        why.retain(|seq, reason| self.why.get(seq) != Some(reason));
        self.why.extend(why.iter().map(|(seq, reason)| (*seq, reason.clone())));
        let mut now = vec![None; at];
        for item in items {
            let Some(seq) = item.event else { continue };
            let Some(cell) = now.get_mut(seq as usize) else { continue };
            *cell = Some(match (item.verbatim, self.edit(seq, &edits)) {
                (true, _) if folded.pinned.contains(&seq) => FabricCell::Pinned,
                (true, _) => FabricCell::Verbatim,
                (false, Some(edit)) => edit,
                (false, None) => FabricCell::Repaired,
            });
        }
        for (cell, now) in self.cells.iter_mut().zip(now) {
            *cell = match now {
                Some(now) => now,
                None if cell.has_left() => *cell,
                None => gone,
            };
        }
        FoldRow {
            at,
            before: folded.before,
            after: folded.after,
            fates: FabricCell::runs(&self.cells),
            why,
            recap: folded.recap.as_ref().map(|(text, _)| text.clone()),
            recap_tokens: folded.recap.as_ref().map_or(0, |(_, tokens)| *tokens),
        }
    }

    fn edit(&self, seq: u32, edits: &FxHashMap<u32, &str>) -> Option<FabricCell> {
        match edits.get(&seq) {
            Some(reducer) => Some(FabricCell::edited_by(reducer)),
            // Edited by an earlier fold: what it became stays.
            None => {
                let before = self.cells.get(seq as usize).copied();
                before.filter(|cell| matches!(cell, FabricCell::Stub | FabricCell::Clipped))
            }
        }
    }
}
