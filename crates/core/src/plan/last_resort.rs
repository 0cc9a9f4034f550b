//! The last resort, where nothing smaller fits the window: results and arguments are shown cut.
//!
//! First those beside the user's last request, which stays: some clients send what the user types meanwhile in one message
//! with a result. The model has read that result. Then, where the policy allows it, those of the newest step, too.

use std::ops::Range;

use super::limits::{CounterScale, CutRoom};
use super::reducing::MiddleEdits;
use super::request::PlanRequest;
use crate::layout::layout;
use crate::log::{Event, EventLog};
use crate::project::Context;
use crate::reduce::{LEAST_CUT, Middle, may_cut, shorten};
use crate::tools::ToolTable;
use crate::unit::EventUnit;

/// The events that are shown cut.
#[derive(Default)]
pub(super) struct CutEvents {
    /// Those of the newest unit.
    pub newest: Range<usize>,
    /// Those of the unit with the user's last request, where it stays in the middle.
    pub carried: Range<usize>,
}

impl CutEvents {
    /// `user` is the message that stays in the middle because it has the user's last request. `None` where no event has a
    /// result or arguments.
    fn of(
        log: &EventLog,
        units: &[EventUnit],
        user: Option<usize>,
        with_newest: bool,
    ) -> Option<Self> {
        let long = |range: &Range<usize>| {
            log.events()[range.clone()].iter().flat_map(tokens_to_cut).next().is_some()
        };
        let newest = units.last()?.events.clone();
        let carried =
            units.iter().find(|unit| user.is_some_and(|user| unit.events.contains(&user)));
        let carried = carried.map(|unit| unit.events.clone());
        let carried = carried.filter(|range| *range != newest && long(range)).unwrap_or_default();
        let newest = if with_newest && long(&newest) { newest } else { newest.end..newest.end };
        let cut = Self { newest, carried };
        cut.all().next().is_some().then_some(cut)
    }

    fn all(&self) -> impl Iterator<Item = usize> + use<> {
        self.carried.clone().chain(self.newest.clone())
    }
}

/// The room for these events, so that a context fits that is `least` with them whole. A quarter of the limit stays free for
/// the next steps where that leaves enough of the results and arguments. `None` where they have neither.
pub(super) fn room(
    request: &PlanRequest<'_>,
    scale: CounterScale,
    least: &Context,
    with_newest: bool,
) -> Option<CutRoom> {
    let (log, units) = (request.log, request.log.units());
    let user = layout(log, &units, request.policy, scale.budget, Some(0)).carried_user;
    let cut = CutEvents::of(log, &units, user, with_newest)?;
    let events = || cut.all().map(|at| &log.events()[at]);
    let long: Vec<u64> = events().flat_map(tokens_to_cut).collect();
    let whole: u64 = events().map(|event| u64::from(event.tokens.total)).sum();
    let beside = least.tokens().saturating_sub(whole);
    let shortest = whole.saturating_sub(long.iter().sum())
        + long.iter().map(|tokens| tokens.min(&LEAST_CUT)).sum::<u64>();
    let wanted = (scale.limit - scale.limit / 4).saturating_sub(beside);
    let most = if wanted < shortest { scale.limit.saturating_sub(beside) } else { wanted };
    Some(CutRoom { most, with_newest })
}

/// Cuts the results and arguments so that the events have this room. `user` is the message with the user's last request,
/// where it stays in the middle.
pub(super) fn cut(
    request: &PlanRequest<'_>,
    tools: &ToolTable,
    user: Option<usize>,
    room: CutRoom,
    edits: &mut MiddleEdits,
) -> CutEvents {
    let log = request.log;
    let Some(cut) = CutEvents::of(log, &log.units(), user, room.with_newest) else {
        return CutEvents::default();
    };
    let from = cut.all().next().unwrap_or(0);
    let range = from..cut.newest.end;
    let mut editable = vec![false; range.len()];
    cut.all().for_each(|at| editable[at - from] = true);
    let own: u64 = cut.all().map(|at| log.tokens_in(at..at + 1)).sum();
    let between = log.tokens_in(range.clone()) - own;
    let mut events = Middle::new(log.events(), range, editable, &**log.counter(), tools);
    shorten(&mut events, room.most + between, may_cut);
    edits.extend(events.into_edits());
    cut
}

/// The tokens of each result and of the arguments of each call of an event.
fn tokens_to_cut(event: &Event) -> impl Iterator<Item = u64> {
    let blocks = event.view.blocks.iter().zip(&event.tokens.blocks);
    blocks.filter(|(block, _)| may_cut(block)).map(|(_, tokens)| u64::from(*tokens))
}
