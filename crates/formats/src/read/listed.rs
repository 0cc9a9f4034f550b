//! Session files whose lines somebody has put into one list.

use super::outline::InputDocument;
use super::text::TopValue;
use super::{TranscriptFormat, clients, is_session, recognise};
use crate::scan;

/// The elements of the only list of the input, as the lines of a client's session file. `None` where they are no such
/// lines, where the client itself writes a list, and where `from` says that they are of another format.
pub(super) fn lines(
    doc: InputDocument<'_>,
    records: &[TopValue],
    from: Option<TranscriptFormat>,
) -> Option<Vec<TopValue>> {
    let [list] = records else { return None };
    let is_list = doc.bytes.get(list.range.start) == Some(&b'[');
    if !is_list || clients::recognise(doc, records).is_some() {
        return None;
    }
    let (mut at, mut line) = (list.range.start, list.line);
    let lines = doc.elements(list.range.clone()).map(|range| {
        line += scan::count_lines(&doc.bytes[at..range.start]);
        at = range.start;
        TopValue { range, line }
    });
    let lines: Vec<_> = lines.collect();
    let found = recognise(doc, &lines).filter(|found| is_session(*found))?;
    from.is_none_or(|from| from == found).then_some(lines)
}
