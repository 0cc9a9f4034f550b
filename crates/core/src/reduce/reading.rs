//! The events as the reducers of a policy leave them, without a fold: what a recap is made from, and what the tail of
//! Hermes Agent is measured by.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{Middle, MiddleBudget, MiddleEdit, ReducerState, reducer};
use crate::log::{Event, EventLog};
use crate::policy::{Policy, RecapSource, ReducerName};
use crate::result_words::{ResultWordFinder, in_results};
use crate::tools::ToolTable;

/// The edits of one event, each with the index of its block.
pub(crate) type EventEdits = Vec<(usize, MiddleEdit)>;

/// The events of `span` that the policy's reducers change, as they leave them, by their place in the log. Empty where
/// the policy's recap reads the log itself: such a policy prunes nothing before it cuts.
#[must_use]
pub fn reduced_events(
    log: &EventLog,
    policy: &Policy,
    span: Range<usize>,
) -> FxHashMap<usize, Event> {
    if policy.recap.reads == RecapSource::Log || span.is_empty() {
        return FxHashMap::default();
    }
    let tools = ToolTable::of(&policy.tools);
    let mut editable = vec![true; span.len()];
    spare_spoken(log, &span, &tools, &mut editable);
    let mut middle = Middle::new(log.events(), span, editable, &**log.counter(), &tools);
    let mut state = ReducerState::alone(policy, &tools);
    for name in policy.reducers.iter().filter(|name| **name != ReducerName::Recap) {
        state = reducer(*name).reduce(&mut middle, &MiddleBudget::default(), state);
    }
    let edits = middle.into_edits().into_iter();
    edits.map(|(at, edits)| (at, edited_event(log, at, &edits))).collect()
}

/// The events of the log, those of `span` as a recap reads them by this policy; `None` where it reads the log itself, or
/// reducers change nothing.
pub(crate) fn as_read(log: &EventLog, policy: &Policy, span: Range<usize>) -> Option<Vec<Event>> {
    with_edited(log, reduced_events(log, policy, span))
}

/// The events of the log with some of them replaced; `None` where none is.
pub(crate) fn with_edited(
    log: &EventLog,
    edited: impl IntoIterator<Item = (usize, Event)>,
) -> Option<Vec<Event>> {
    let mut edited = edited.into_iter().peekable();
    edited.peek()?;
    let mut events = log.events().to_vec();
    edited.for_each(|(at, event)| events[at] = event);
    Some(events)
}

/// The event with edits of its blocks, and with the tokens that it then has.
pub(crate) fn edited_event(log: &EventLog, at: usize, edits: &[(usize, MiddleEdit)]) -> Event {
    let mut event = log.events()[at].clone();
    let blocks = &event.view.blocks;
    let changes: Vec<_> =
        edits.iter().map(|(block, edit)| (&blocks[*block], &edit.change)).collect();
    event.bytes = crate::edit::apply(&event.bytes, &changes);
    // The new bytes hold the marks of an edit: the origin is that of the original event.
    let origin = event.view.origin;
    event.view = log.dialect().view(&event.bytes);
    event.view.origin = origin;
    let saved = edits.iter().map(|(_, edit)| edit.tokens_before.saturating_sub(edit.tokens_after));
    event.tokens.total = event.tokens.total.saturating_sub(saved.sum());
    event
}

/// Protects events in whose results the user speaks: no reducer removes the user's words. A recap quotes these words.
/// Results of more than [`SPOKEN`] tokens may be reduced all the same.
pub(crate) fn spare_spoken(
    log: &EventLog,
    range: &Range<usize>,
    tools: &ToolTable,
    editable: &mut [bool],
) {
    let finder = ResultWordFinder { tools, dialect: &**log.dialect() };
    let events = &log.events()[range.clone()];
    let first = events.first().map_or(0, |event| event.seq);
    for (seq, _) in in_results(events, finder) {
        let at = (seq - first) as usize;
        editable[at] &= events[at].tokens.total > SPOKEN;
    }
}

/// The most tokens of a result that stays whole because a person speaks in it.
const SPOKEN: u32 = 2_000;
