//! Where a client's file has its entries: in a list, in a list of an object, or one a line.

use std::ops::Range;

use super::super::outline::InputDocument;
use super::super::text::TopValue;

/// The elements of the lists that the records are, or hold by one of these names; else the records.
pub(super) fn all<'a>(
    doc: InputDocument<'a>,
    records: &'a [TopValue],
    names: &'static [&'static str],
) -> impl Iterator<Item = Range<usize>> + 'a {
    records.iter().flat_map(move |record| {
        let list = list(doc, record.range.clone(), names);
        let alone = list.is_none().then(|| record.range.clone());
        alone.into_iter().chain(doc.elements(list.unwrap_or(0..0)))
    })
}

/// The list that a value is, or that it holds by one of these names.
pub(super) fn list(
    doc: InputDocument<'_>,
    at: Range<usize>,
    names: &[&str],
) -> Option<Range<usize>> {
    if doc.bytes.get(at.start) == Some(&b'[') {
        return Some(at);
    }
    if names.is_empty() {
        return None;
    }
    let fields = doc.fields(at);
    names.iter().find_map(|name| fields.array(name))
}
