//! The newest step as the last resort: its results and arguments are shown cut, where nothing smaller fits the window.

use std::ops::Range;

use super::limits::CounterScale;
use super::reducing::MiddleEdits;
use super::request::PlanRequest;
use crate::log::{Event, EventLog};
use crate::project::Context;
use crate::reduce::{LEAST_CUT, Middle, may_cut, shorten};
use crate::tools::ToolTable;

/// The most tokens of the newest unit, so that a context fits that is `least` with the whole unit. A quarter of the
/// limit stays free for the next steps where that leaves enough of the results and arguments. `None` where the unit has
/// neither.
pub(super) fn room(request: &PlanRequest<'_>, scale: CounterScale, least: &Context) -> Option<u64> {
    let events = &request.log.events()[events(request.log)?];
    let long: Vec<u64> = events.iter().flat_map(tokens_to_cut).collect();
    let whole: u64 = events.iter().map(|event| u64::from(event.tokens.total)).sum();
    let beside = least.tokens().saturating_sub(whole);
    let shortest = whole.saturating_sub(long.iter().sum())
        + long.iter().map(|tokens| tokens.min(&LEAST_CUT)).sum::<u64>();
    let wanted = (scale.limit - scale.limit / 4).saturating_sub(beside);
    let most = if wanted < shortest { scale.limit.saturating_sub(beside) } else { wanted };
    (!long.is_empty()).then_some(most)
}

/// Cuts the results and arguments of the newest unit so that it has at most `most` tokens, and returns the unit's events.
pub(super) fn cut(
    request: &PlanRequest<'_>,
    tools: &ToolTable,
    most: u64,
    edits: &mut MiddleEdits,
) -> Range<usize> {
    let log = request.log;
    let Some(range) = events(log) else { return 0..0 };
    let editable = vec![true; range.len()];
    let mut newest = Middle::new(log.events(), range.clone(), editable, &**log.counter(), tools);
    shorten(&mut newest, most, may_cut);
    edits.extend(newest.into_edits());
    range
}

/// The events of the newest unit; `None` in an empty log.
fn events(log: &EventLog) -> Option<Range<usize>> {
    log.units().last().map(|unit| unit.events.clone())
}

/// The tokens of each result and of the arguments of each call of an event.
fn tokens_to_cut(event: &Event) -> impl Iterator<Item = u64> {
    let blocks = event.view.blocks.iter().zip(&event.tokens.blocks);
    blocks.filter(|(block, _)| may_cut(block)).map(|(_, tokens)| u64::from(*tokens))
}
