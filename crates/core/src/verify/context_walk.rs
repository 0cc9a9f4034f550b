//! What a record says is in the context, and what was seen there.

use crate::fold::FoldEntry;

/// What the context has to hold, by the record, before repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedContext {
    /// This event of the log.
    Event(usize),
    /// This event of the log, as this entry has it.
    Edited(usize, usize),
    /// The recap or marker of this entry.
    StandIn(usize),
}

/// The message that an entry holds.
pub(super) fn bytes_of(entry: &FoldEntry) -> &[u8] {
    match entry {
        FoldEntry::Recap { bytes }
        | FoldEntry::Marker { bytes }
        | FoldEntry::Edited { bytes, .. } => bytes.as_bytes(),
        FoldEntry::Verbatim { .. } => &[],
    }
}

/// What the walk saw.
pub(super) struct SeenContext {
    /// Where each event of the log is verbatim in the context.
    pub place: Vec<Option<usize>>,
    /// Which events of the log a repair rendered otherwise.
    pub rendered: Vec<bool>,
    /// Where the recap or marker stands.
    pub stand_in: Option<usize>,
}
