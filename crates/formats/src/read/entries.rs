//! Finds the entries of a client's file: in a list, in a list of an object, or one per line.

use std::ops::Range;

use super::outline::InputDocument;
use super::text::TopValue;

/// The entries of all records: the elements of a record that is a list, or holds one under one of these names, or else
/// the record itself.
pub(super) fn all<'a>(
    doc: InputDocument<'a>,
    records: &'a [TopValue],
    names: &'a [&'a str],
) -> impl Iterator<Item = Range<usize>> + 'a {
    records.iter().flat_map(move |record| {
        let list = list(doc, record.range.clone(), names);
        let alone = list.is_none().then(|| record.range.clone());
        alone.into_iter().chain(doc.elements(list.unwrap_or(0..0)))
    })
}

/// The list that a value is, or that it holds under one of these names. `None` where there is none.
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
