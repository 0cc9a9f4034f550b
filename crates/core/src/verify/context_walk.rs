//! The context that a record describes, and the findings of the walk over the real one.

use crate::fold::FoldEntry;

/// A message that the context must have by the record, before repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedContext {
    /// The event with this index, verbatim.
    Event(usize),
    /// The event with the first index, in the form of the entry with the second.
    Edited(usize, usize),
    /// The recap or marker of the entry with this index.
    StandIn(usize),
}

/// The message that an entry holds; empty for verbatim events.
pub(super) fn bytes_of(entry: &FoldEntry) -> &[u8] {
    match entry {
        FoldEntry::Recap { bytes }
        | FoldEntry::Marker { bytes }
        | FoldEntry::Edited { bytes, .. } => bytes.as_bytes(),
        FoldEntry::Verbatim { .. } => &[],
    }
}

/// The findings of the walk over a context.
pub(super) struct SeenContext {
    /// For each event of the log, its verbatim place in the context; `None` where it is not there.
    pub place: Vec<Option<usize>>,
    /// For each event of the log, whether a repair changed its form.
    pub rendered: Vec<bool>,
    /// The place of the recap or marker.
    pub stand_in: Option<usize>,
}
