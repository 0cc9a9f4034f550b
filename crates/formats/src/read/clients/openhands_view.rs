//! The view of a log of OpenHands after its condensations.

use std::collections::HashSet;
use std::ops::Range;

use crate::read::InputSource;
use crate::scan;

/// An item that is sent: an event, or a summary in the place of forgotten events.
#[derive(Clone)]
pub(super) enum OpenhandsItem {
    Event { at: Range<usize>, id: Option<String> },
    Summary(Range<usize>),
}

/// The strings and numbers of a list.
pub(super) fn labels(input: &[u8], list: Option<Range<usize>>) -> HashSet<String> {
    let all = scan::elements(input, list.unwrap_or(0..0));
    all.map(|at| match input.get(at.clone()) {
        Some(string @ [b'"', ..]) => midfold_core::jsonstr::decode(string).into_owned(),
        other => String::from_utf8_lossy(other.unwrap_or_default()).into_owned(),
    })
    .collect()
}

/// Removes the forgotten events from a view, and puts the summary in their place.
pub(super) fn condense(
    source: &mut InputSource<'_>,
    view: &mut Vec<OpenhandsItem>,
    forgotten: &HashSet<String>,
    summary: Option<(Range<usize>, u64)>,
    at: usize,
) {
    let before = view.len();
    let is_forgotten = |seen: &OpenhandsItem| match seen {
        OpenhandsItem::Event { id: Some(id), .. } => forgotten.contains(id),
        _ => false,
    };
    if !forgotten.is_empty() {
        view.retain(|seen| !is_forgotten(seen));
    }
    let dropped = before - view.len();
    if dropped > 0 && !source.recorded {
        source.note_compacted(at, dropped, "events");
    }
    if let Some((summary, offset)) = summary {
        // The client counted the offset in its own view, which may be longer.
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        view.insert(offset.min(view.len()), OpenhandsItem::Summary(summary));
    }
}
