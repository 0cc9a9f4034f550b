//! What is left of a log of OpenHands after its condensations.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use midfold_core::Origin;
use midfold_core::event::RawEvent;

use super::super::chat::{self, Part};
use super::super::source::Source;
use crate::fields::Fields;
use crate::scan;

/// What is sent: an event, or a summary in the place of those that were forgotten.
#[derive(Clone)]
pub(super) enum Seen {
    Event(Range<usize>),
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

/// A view without what was forgotten, and with the summary in its place.
pub(super) fn condense(
    source: &mut Source<'_>,
    view: &[Seen],
    forgotten: &HashSet<String>,
    summary: Option<Range<usize>>,
    offset: Option<u64>,
    at: usize,
) -> Vec<Seen> {
    let input = source.input;
    let is_kept = |seen: &&Seen| match seen {
        Seen::Event(at) => {
            !Fields::of(input, at.clone()).label("id").is_some_and(|id| forgotten.contains(&id))
        }
        Seen::Summary(_) => true,
    };
    let mut kept: Vec<Seen> = view.iter().filter(is_kept).cloned().collect();
    let gone = view.len() - kept.len();
    if gone > 0 && !source.recorded {
        let told = format!("{gone} events before it are no longer in the context");
        source.note(at, "compacted-before", told);
    }
    if let Some(summary) = summary {
        let offset = usize::try_from(offset.unwrap_or(0)).unwrap_or(usize::MAX);
        kept.insert(offset.min(kept.len()), Seen::Summary(summary));
    }
    kept
}

/// A user message of one recorded string that recaps what was forgotten.
pub(super) fn recap(source: &mut Source<'_>, text: Range<usize>) -> RawEvent {
    let words = Part::Text(Cow::Borrowed(&source.input[text.clone()]));
    let mut event = source.built(chat::message("user", &[words]), vec![text]);
    event.origin = Some(Origin::Recap);
    event
}
