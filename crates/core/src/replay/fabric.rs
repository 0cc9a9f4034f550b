//! The fabric: what became of every event, fold by fold.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::fold::{Fold, FoldEntry};
use crate::replay::drive::{ReplayFold, SentMessage};

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricCell {
    /// It is sent as it is.
    Verbatim,
    /// A line that says what it was.
    Stub,
    /// Shortened.
    Clipped,
    /// In the recap.
    Recap,
    /// Behind a marker.
    Marker,
    /// Sent as it is because it was pinned, or is the user's last word.
    Pinned,
    /// Rendered otherwise, for the provider's sake.
    Repaired,
}

impl FabricCell {
    /// One letter, for tables.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Verbatim => 'v',
            Self::Stub => 's',
            Self::Clipped => 'c',
            Self::Recap => 'r',
            Self::Marker => 'm',
            Self::Pinned => 'p',
            Self::Repaired => 'x',
        }
    }

    /// What a reducer makes of an event.
    fn edited_by(reducer: &str) -> Self {
        match reducer {
            "arguments" | "terminal" => Self::Clipped,
            _ => Self::Stub,
        }
    }

    /// What a recorded fold makes of each event that there was, as runs: what they become and how many.
    #[must_use]
    pub fn of_fold(fold: &Fold) -> Vec<(Self, u32)> {
        let gone = match fold.entries.iter().any(|entry| matches!(entry, FoldEntry::Recap { .. })) {
            true => Self::Recap,
            false => Self::Marker,
        };
        let (start, end) = (fold.span.start as usize, fold.span.end as usize);
        let mut cells = vec![Self::Verbatim; (fold.accounts.events as usize).max(end)];
        if let Some(span) = cells.get_mut(start..end) {
            span.fill(gone);
        }
        let edits: FxHashMap<u32, &str> =
            fold.edits.iter().rev().map(|edit| (edit.seq, edit.reducer.as_str())).collect();
        let mut set = |seq: u32, cell: Self| {
            if let Some(place) = cells.get_mut(seq as usize) {
                *place = cell;
            }
        };
        for entry in &fold.entries {
            match entry {
                FoldEntry::Verbatim { from, to } => {
                    (*from..*to).for_each(|seq| set(seq, Self::Verbatim));
                }
                FoldEntry::Edited { seq, .. } => {
                    set(*seq, edits.get(seq).map_or(Self::Stub, |by| Self::edited_by(by)));
                }
                FoldEntry::Recap { .. } | FoldEntry::Marker { .. } => {}
            }
        }
        let pinned = fold.layout.pinned.iter().chain(&fold.layout.carried_user);
        pinned.for_each(|seq| set(*seq, Self::Pinned));
        fold.repairs.iter().filter_map(|it| it.seq).for_each(|seq| set(seq, Self::Repaired));
        runs(&cells)
    }

    fn left(self) -> bool {
        matches!(self, Self::Recap | Self::Marker)
    }
}

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
                None if cell.left() => *cell,
                None => gone,
            };
        }
        FoldRow {
            at,
            before: folded.before,
            after: folded.after,
            fates: runs(&self.cells),
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

fn runs(cells: &[FabricCell]) -> Vec<(FabricCell, u32)> {
    let mut runs: Vec<(FabricCell, u32)> = Vec::new();
    for cell in cells {
        match runs.last_mut() {
            Some((last, count)) if last == cell => *count += 1,
            _ => runs.push((*cell, 1)),
        }
    }
    runs
}
