//! The fabric of a fold: the fate of each event, for tables and pictures.

use rustc_hash::FxHashMap;

use crate::fold::{Fold, FoldEntry};
use crate::policy::ReducerName;

/// The fate of an event under one fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricCell {
    /// Sent unchanged.
    Verbatim,
    /// Replaced by a line that says what it was; or without its reasoning, where only that was dropped.
    Stub,
    /// Sent in a shortened form.
    Clipped,
    /// Covered by a recap.
    Recap,
    /// Covered by a marker.
    Marker,
    /// Sent unchanged because it is pinned, or is the user's last message.
    Pinned,
    /// Sent in another form, because the provider would refuse the original.
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

    /// The fate of an event that this reducer edited.
    #[must_use]
    pub fn edited_by(reducer: ReducerName) -> Self {
        match reducer {
            ReducerName::Arguments | ReducerName::Terminal | ReducerName::Cut => Self::Clipped,
            ReducerName::Dedup
            | ReducerName::Supersede
            | ReducerName::Retain
            | ReducerName::Stub
            | ReducerName::Reasoning
            | ReducerName::Window
            | ReducerName::Recap => Self::Stub,
        }
    }

    /// The fate of an event that is in no message of the context: the recap covers it, or only a marker.
    #[must_use]
    pub fn covered(seq: u32, marker_from: Option<u32>) -> Self {
        if marker_from.is_some_and(|from| seq >= from) { Self::Marker } else { Self::Recap }
    }

    /// The fates of all events of a recorded fold, as runs: the fate and the number of events.
    #[must_use]
    pub fn of_fold(fold: &Fold) -> Vec<(Self, u32)> {
        Self::runs(&Self::each_of(fold))
    }

    /// The fate of each event of a recorded fold.
    #[must_use]
    pub fn each_of(fold: &Fold) -> Vec<Self> {
        let events = fold.accounts.events.max(fold.span.end);
        let marker_from = fold.marker_from();
        let cell = |seq: u32| match (fold.span.start..fold.span.end).contains(&seq) {
            true => Self::covered(seq, marker_from),
            false => Self::Verbatim,
        };
        let mut cells: Vec<Self> = (0..events).map(cell).collect();
        // In reverse order, so that the first edit of an event is the one that stays in the map.
        let edits: FxHashMap<u32, ReducerName> =
            fold.edits.iter().rev().map(|edit| (edit.seq, edit.reducer)).collect();
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
                    set(*seq, edits.get(seq).map_or(Self::Stub, |by| Self::edited_by(*by)));
                }
                FoldEntry::Recap { .. } | FoldEntry::Marker { .. } => {}
            }
        }
        // After the entries, which hold a pinned event as a verbatim one.
        let pinned = fold.layout.pinned.iter().chain(&fold.layout.carried_user);
        pinned.for_each(|seq| set(*seq, Self::Pinned));
        fold.repairs
            .iter()
            .filter_map(|repair| repair.seq)
            .for_each(|seq| set(seq, Self::Repaired));
        cells
    }

    /// Joins equal neighbours: each fate with the number of cells.
    #[must_use]
    pub fn runs(cells: &[Self]) -> Vec<(Self, u32)> {
        let mut runs: Vec<(Self, u32)> = Vec::new();
        for cell in cells {
            match runs.last_mut() {
                Some((last, count)) if last == cell => *count += 1,
                _ => runs.push((*cell, 1)),
            }
        }
        runs
    }

    /// Whether the event is sent in no form.
    #[must_use]
    pub fn has_left(self) -> bool {
        matches!(self, Self::Recap | Self::Marker)
    }
}
