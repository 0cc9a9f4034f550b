//! The fabric: the fate of every event, fold by fold.

use std::collections::BTreeMap;

use midfold_core::fabric::FabricCell;
use midfold_core::policy::ReducerName;
use midfold_core::trigger::FoldCause;
use rustc_hash::FxHashMap;

use crate::replay::drive::{ReplayFold, SentMessage};

/// One fold, with the fate of every event before it.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldRow {
    /// The number of events in the history when it was made.
    pub at: usize,
    /// The tokens of the context before the fold.
    pub before: u64,
    /// The tokens of the context after the fold.
    pub after: u64,
    /// The reason for the fold; `None` for an engine outside of midfold.
    pub cause: Option<FoldCause>,
    /// The runs of events with the same fate, in order: the fate and the number of events.
    pub fates: Vec<(FabricCell, u32)>,
    /// The reasons, by event, where there is more to say than the fate. A reason is listed only where it differs from
    /// that of the last fold, and is valid until another one is listed.
    pub why: BTreeMap<u32, String>,
    /// The text in place of folded events. `None` where there is none.
    pub recap: Option<String>,
    /// The tokens of that text.
    pub recap_tokens: u64,
}

/// The fate of every event so far.
#[derive(Default)]
pub(super) struct FateFabric {
    /// The fate of each event.
    cells: Vec<FabricCell>,
    /// The newest reason of each event.
    why: BTreeMap<u32, String>,
}

impl FateFabric {
    /// Notes a fold. `items` are all messages that are sent.
    pub fn fold<'a>(
        &mut self,
        at: usize,
        items: impl Iterator<Item = &'a SentMessage>,
        folded: &ReplayFold,
    ) -> FoldRow {
        self.cells.resize(at, FabricCell::Verbatim);
        let mut edits = FxHashMap::default();
        let mut why = BTreeMap::new();
        for (seq, reducer, reason) in &folded.edits {
            // Of several edits of one event, the first decides its cell.
            edits.entry(*seq).or_insert(*reducer);
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
        for ((seq, cell), now) in (0..).zip(&mut self.cells).zip(now) {
            *cell = match now {
                Some(now) => now,
                None if cell.has_left() => *cell,
                None => FabricCell::covered(seq, folded.marker_from),
            };
        }
        FoldRow {
            cause: folded.cause,
            at,
            before: folded.before,
            after: folded.after,
            fates: FabricCell::runs(&self.cells),
            why,
            recap: folded.recap.as_ref().map(|(text, _)| text.clone()),
            recap_tokens: folded.recap.as_ref().map_or(0, |(_, tokens)| *tokens),
        }
    }

    fn edit(&self, seq: u32, edits: &FxHashMap<u32, ReducerName>) -> Option<FabricCell> {
        match edits.get(&seq) {
            Some(reducer) => Some(FabricCell::edited_by(*reducer)),
            // An earlier fold edited the event; it stays as that fold left it.
            None => {
                let before = self.cells.get(seq as usize).copied();
                before.filter(|cell| matches!(cell, FabricCell::Stub | FabricCell::Clipped))
            }
        }
    }
}
