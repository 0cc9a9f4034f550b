//! Finds the messages that a compaction of the client kept beside its summary, and reports the results that its small
//! compactions cleared.

use std::collections::HashMap;

use midfold_core::jsonstr;

use super::record::RecordLine;
use crate::fields::ObjectFields;
use crate::read::source::InputSource;
use crate::read::text::TopValue;
use crate::scan;

/// The line numbers that the boundary names as kept, oldest first: the lines that it lists, or else the chain from the
/// last kept line back to the first.
pub(super) fn lines(
    input: &[u8],
    boundary: &ObjectFields<'_>,
    lines: &[RecordLine],
    by_uuid: &HashMap<String, usize>,
) -> Vec<usize> {
    let about = boundary.inner("compactMetadata");
    let listed = about.inner("preservedMessages");
    let listed = listed.array("uuids").or_else(|| listed.array("allUuids"));
    let mut indices: Vec<usize> = match listed {
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
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().map(|at| lines[at].line).collect()
}

/// The lines from `tail` back to `head`. Empty where `head` is no ancestor of `tail`.
fn chain(lines: &[RecordLine], head: usize, tail: usize) -> Vec<usize> {
    let parents = std::iter::successors(Some(tail), |at| lines[*at].parent);
    // A parent comes before its children, so the search is over at the line of `head`.
    let path: Vec<usize> = parents.take_while(|at| *at >= head).collect();
    match path.last() == Some(&head) {
        // The chain branches at a batch of results. All lines between its ends were kept with it.
        true => (head..=tail).filter(|at| lines[*at].group == lines[head].group).collect(),
        false => Vec::new(),
    }
}

/// Notes how many results the client no longer sends whole. The reader takes them whole: midfold itself decides what is
/// kept of them.
pub(super) fn note_cleared(
    source: &mut InputSource<'_>,
    record: &TopValue,
    fields: &ObjectFields<'_>,
) {
    let list = fields.inner("microcompactMetadata").array("compactedToolIds");
    let count = scan::elements(source.input, list.unwrap_or(0..0)).count();
    if count > 0 {
        let detail = format!("{count} results that the client cleared here are read as they were");
        source.note(record.range.start, "cleared-by-client", detail);
    }
}
