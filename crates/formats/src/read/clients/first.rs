//! What a reader looks at to tell whose an input is.

use std::ops::Range;

use super::super::outline::Doc;
use super::super::text::Record;

/// The records that are asked whose they are: a large file of another client costs next to nothing.
pub(super) fn records(records: &[Record]) -> impl Iterator<Item = &Record> {
    const ASKED: usize = 16;
    records.iter().take(ASKED)
}

/// The first element of the list in `list`.
pub(super) fn element(doc: Doc<'_>, list: Range<usize>) -> Option<Range<usize>> {
    doc.elements(list).next()
}
