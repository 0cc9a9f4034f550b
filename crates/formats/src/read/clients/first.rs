//! What a reader looks at to tell whose an input is.

use std::ops::Range;

use super::super::outline::InputDocument;
use super::super::text::TopValue;

/// The records that are asked whose they are: a large file of another client costs next to nothing.
pub(super) fn records(records: &[TopValue]) -> impl Iterator<Item = &TopValue> {
    const ASKED: usize = 16;
    records.iter().take(ASKED)
}

/// The first element of the list in `list`.
pub(super) fn element(doc: InputDocument<'_>, list: Range<usize>) -> Option<Range<usize>> {
    doc.elements(list).next()
}
