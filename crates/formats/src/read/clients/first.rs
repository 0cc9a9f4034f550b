//! The part of an input that a reader looks at to identify its client.

use std::ops::Range;

use crate::read::{InputDocument, TopValue};

/// The first records, which are enough to identify the client. Identifying a large file of another client stays cheap.
pub(super) fn records(records: &[TopValue]) -> impl Iterator<Item = &TopValue> {
    const ASKED: usize = 16;
    records.iter().take(ASKED)
}

/// The range of the first element of `list`. `None` for an empty list.
pub(super) fn element(doc: InputDocument<'_>, list: Range<usize>) -> Option<Range<usize>> {
    doc.elements(list).next()
}
