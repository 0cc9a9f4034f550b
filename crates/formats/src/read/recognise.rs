//! Finds out what an input is: which format it has, and whether it is a session file whose lines somebody has put into
//! one list.

use super::TranscriptFormat;
use super::outline::InputDocument;
use super::text::TopValue;
use super::{clients, detect, registry};
use crate::scan;

/// The format of the input that consists of these values. `None` where it holds no messages.
pub(super) fn format(doc: InputDocument<'_>, records: &[TopValue]) -> Option<TranscriptFormat> {
    clients::recognise(doc, records).or_else(|| detect::format(doc, records))
}

/// The elements of the only list of the input, as the lines of a client's session file. `None` where they are no such
/// lines, where the client itself writes a list, and where `from` says that they are of another format.
pub(super) fn lines_of_list(
    doc: InputDocument<'_>,
    records: &[TopValue],
    from: Option<TranscriptFormat>,
) -> Option<Vec<TopValue>> {
    let [list] = records else { return None };
    let is_list = doc.bytes.get(list.range.start) == Some(&b'[');
    if !is_list || clients::recognise(doc, records).is_some() {
        return None;
    }
    let lines = doc.elements(list.range.clone()).map(|range| TopValue { range, line: list.line });
    let mut lines: Vec<_> = lines.collect();
    let recognised =
        format(doc, &lines).filter(|recognised| registry::of(*recognised).is_session())?;
    if from.is_some_and(|from| from != recognised) {
        return None;
    }
    // Lines are counted only now, because most lists are those of a request and may be large.
    let (mut at, mut line) = (list.range.start, list.line);
    for element in &mut lines {
        line += scan::count_lines(&doc.bytes[at..element.range.start]);
        at = element.range.start;
        element.line = line;
    }
    Some(lines)
}
