//! What a compaction of the client's left in the context beside its summary, and what one of its small
//! compactions took out of it.

use std::collections::HashMap;

use midfold_core::jsonstr;

use super::record::RecordLine;
use crate::fields::ObjectFields;
use crate::read::source::InputSource;
use crate::read::text::TopValue;
use crate::scan;

/// The lines of the file that the boundary says were kept, oldest first: those that it lists, else the
/// chain from the last one back to the first.
pub(super) fn lines(
    input: &[u8],
    boundary: &ObjectFields<'_>,
    lines: &[RecordLine],
    by_uuid: &HashMap<String, usize>,
) -> Vec<usize> {
    let about = boundary.inner("compactMetadata");
    let listed = about.inner("preservedMessages");
    let listed = listed.array("uuids").or_else(|| listed.array("allUuids"));
    let mut kept: Vec<usize> = match listed {
        Some(list) => scan::elements(input, list)
            .filter_map(|uuid| by_uuid.get(&*jsonstr::decode(&input[uuid])).copied())
            .collect(),
        None => {
            let segment = about.inner("preservedSegment");
            let place = |name| by_uuid.get(&*segment.text(name)?).copied();
            match (place("headUuid"), place("tailUuid")) {
                (Some(head), Some(tail)) => chain(lines, head, tail),
                _ => Vec::new(),
            }
        }
    };
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|at| lines[at].line).collect()
}

/// From `tail` back to `head`; nothing where `head` is not on the way.
fn chain(lines: &[RecordLine], head: usize, tail: usize) -> Vec<usize> {
    let parents = std::iter::successors(Some(tail), |at| lines[*at].parent);
    let found: Vec<usize> = parents.take_while(|at| *at >= head).collect();
    match found.last() == Some(&head) {
        // A batch of results branches: what hangs between them was kept with them.
        true => (head..=tail).filter(|at| lines[*at].group == lines[head].group).collect(),
        false => Vec::new(),
    }
}

/// Says which results the client no longer sends whole. They are read as they were: what is kept of
/// them is for midfold to decide.
pub(super) fn note_cleared(
    source: &mut InputSource<'_>,
    record: &TopValue,
    fields: &ObjectFields<'_>,
) {
    let list = fields.inner("microcompactMetadata").array("compactedToolIds");
    let count = scan::elements(source.input, list.unwrap_or(0..0)).count();
    if count > 0 {
        let told = format!("{count} results that the client cleared here are read as they were");
        source.note(record.range.start, "cleared-by-client", told);
    }
}
