//! Where a fold cuts the log: head, middle and tail, and what of the middle stays.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::request::PlanRequest;
use crate::layout::{Layout, layout};
use crate::unit::EventUnit;

/// The cuts of a fold, with the size of each part that stays. Sizes are in counted tokens.
pub(super) struct FoldCut {
    pub layout: Layout,
    /// The units of the middle.
    pub middle: Vec<EventUnit>,
    /// The starts of those units of the middle that stay as they are.
    pub pinned: FxHashSet<usize>,
    /// The head, with the envelope.
    pub head_tokens: u64,
    /// The part of the tail that reducers leave alone.
    pub tail_tokens: u64,
    /// The units of the middle that no recap covers, and the part of the tail that reducers may edit.
    pub kept_tokens: u64,
    /// Whether the tail is the newest unit alone, so that it cannot be shortened.
    pub tail_is_newest: bool,
}

impl FoldCut {
    /// Cuts the log. Shares are taken of `share` tokens; the tail has at most `tail` tokens, but for the newest unit.
    pub fn of(
        request: &PlanRequest<'_>,
        units: &[EventUnit],
        share: u64,
        tail: Option<u64>,
    ) -> Self {
        let log = request.log;
        let layout = layout(log, units, request.policy, share, tail);
        let middle: Vec<EventUnit> = units_in(units, layout.open()).to_vec();
        let pinned = pinned_units(request, &layout, &middle);
        let stays = |unit: &&EventUnit| {
            unit.events.start < layout.cover_end && pinned.contains(&unit.events.start)
        };
        let stays = middle.iter().filter(stays).map(|unit| log.tokens_in(unit.events.clone()));
        let tail_tokens = log.tokens_in(layout.untouched..log.len());
        Self {
            // Reducers may edit the first part of the tail, and no recap covers it.
            kept_tokens: stays.sum::<u64>() + layout.tail_tokens.saturating_sub(tail_tokens),
            head_tokens: log.envelope_tokens() + log.tokens_in(0..layout.head_end),
            tail_tokens,
            tail_is_newest: units.last().is_none_or(|unit| unit.events.start <= layout.cover_end),
            layout,
            middle,
            pinned,
        }
    }

    /// The size of head and tail.
    pub fn ends(&self) -> u64 {
        self.head_tokens + self.tail_tokens
    }

    /// The size of all that stays beside the recap.
    pub fn rest(&self) -> u64 {
        self.ends() + self.kept_tokens
    }

    /// The tokens that the recap covers where it covers the whole middle, and how many of them are in messages of the
    /// user.
    pub fn covered(&self, request: &PlanRequest<'_>) -> (u64, u64) {
        let log = request.log;
        let leaves = self.middle.iter().filter(|unit| !self.pinned.contains(&unit.events.start));
        let events = leaves.flat_map(|unit| &log.events()[unit.events.clone()]);
        let tokens = events.map(|event| (u64::from(event.tokens.total), event.view.is_real_user()));
        tokens.fold((0, 0), |(all, users), (tokens, is_user)| {
            (all + tokens, users + if is_user { tokens } else { 0 })
        })
    }
}

/// The units that lie within a range of events.
pub(super) fn units_in(units: &[EventUnit], range: Range<usize>) -> &[EventUnit] {
    let from = units.partition_point(|unit| unit.events.start < range.start);
    let to = units.partition_point(|unit| unit.events.end <= range.end);
    // A range inside one unit holds no whole unit; `to` is then smaller than `from`.
    &units[from.min(to)..to]
}

/// The starts of the middle's units that stay: those with a pin or the carried user message, and those with an open
/// call.
pub(super) fn pinned_units(
    request: &PlanRequest<'_>,
    layout: &Layout,
    middle: &[EventUnit],
) -> FxHashSet<usize> {
    let mut pins: Vec<usize> = request.pins.iter().map(|pin| *pin as usize).collect();
    pins.sort_unstable();
    let has_pin = |unit: &EventUnit| {
        // Searched and not scanned: messages that a policy keeps count as pins, and there may be thousands.
        let first = pins.partition_point(|pin| *pin < unit.events.start);
        pins.get(first).is_some_and(|pin| *pin < unit.events.end)
    };
    let pinned = |unit: &&EventUnit| {
        !unit.closed
            || layout.carried_user.is_some_and(|user| unit.events.contains(&user))
            || has_pin(unit)
    };
    middle.iter().filter(pinned).map(|unit| unit.events.start).collect()
}
