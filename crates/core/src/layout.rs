//! The layout: where head, middle and tail are cut.
//!
//! The head cut moves forward and the tail cut moves back to a boundary of units, so that no cut splits a unit. A cut
//! that is between two units already stays there.

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::log::{Event, EventLog};
use crate::policy::{HeadPolicy, HeadRule, Policy, RecapFallback, TailRule};
use crate::reduce::reduced_events;
use crate::unit::EventUnit;
use crate::view::{BlockKind, BlockView, Role};

/// The rule that set where the tail begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TailFloor {
    /// The floor in tokens decided.
    Tokens,
    /// The floor in messages decided.
    Messages,
    /// The tail was extended to the user's last real message.
    LastUser,
    /// The soft ceiling stopped the walk towards the start (Hermes Agent).
    Ceiling,
    /// The floors did not fit into the budget, so the tail was shortened.
    Budget,
    /// No cut meets the floors: head and tail hold all events.
    Everything,
}

/// The cuts: `0..head_end` is the head, `head_end..cover_end` the middle, and `cover_end..` the tail, which no recap
/// covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First event of the middle.
    pub head_end: usize,
    /// First event of the tail; a recap covers at most the events before it.
    pub cover_end: usize,
    /// First event that reducers leave alone. It differs from `cover_end` only under [`TailRule::Ceiling`]: the events
    /// between the two belong to the tail, are not covered, and may still be edited.
    pub untouched: usize,
    /// Reducers edit events before this one alone. It differs from `untouched` where a recap covers messages that
    /// Hermes Agent does not prune.
    pub edits_end: usize,
    /// Tokens of the tail, as reducers leave it.
    pub tail_tokens: u64,
    /// What set the tail's boundary.
    pub floor: TailFloor,
    /// The last message that the user typed, where it lies in the middle and has to stay as a pin.
    pub carried_user: Option<usize>,
}

impl Layout {
    /// The middle: the events that a recap may cover.
    #[must_use]
    pub fn middle(&self) -> Range<usize> {
        self.head_end..self.cover_end
    }

    /// The events that a fold may change: the middle, and the part of the tail that reducers may edit.
    #[must_use]
    pub fn open(&self) -> Range<usize> {
        self.head_end..self.untouched
    }
}

/// The soft ceiling of a tail, in halves of its budget: 1.5, as in Hermes Agent. The last user message may extend a
/// tail by the same factor.
const CEILING_HALVES: u64 = 3;

/// The fewest messages of a tail by [`TailRule::Ceiling`].
const CEILING_MESSAGES: usize = 3;

/// Finds the cuts for a budget of `budget` tokens. `tail_limit` is the most tokens of the tail, for the case that the
/// policy's floors exceed the budget; the newest unit always stays.
#[must_use]
pub fn layout(
    log: &EventLog,
    units: &[EventUnit],
    policy: &Policy,
    budget: u64,
    tail_limit: Option<u64>,
) -> Layout {
    let events = log.events();
    let head_end = snap_forward(units, head_end(log, &policy.head));
    // Hermes Agent's rule can leave no tail at all behind a short head, but the newest unit has to stay.
    let newest = units.last().map_or(0, |unit| unit.events.start);
    let aligned = |cut| snap_back(units, cut).min(newest).max(head_end);
    let mut pruned = PrunedTail { log, events: FxHashMap::default() };
    // Reducers leave the events from `protected` on alone.
    let (cover_end, protected, floor) = match policy.tail.rule {
        TailRule::Floors => {
            let least = least_messages(log, policy, budget);
            let tokens =
                if is_tight(log, policy, budget) { 0 } else { policy.tail.ratio.of(budget) };
            let (cut, floor) = floors_cut(log, head_end, least, tokens);
            (aligned(cut), None, floor)
        }
        TailRule::Ceiling => {
            let tokens = policy.tail.ratio.of(policy.trigger.threshold_tokens(budget));
            pruned = PrunedTail::of(log, units, policy, head_end, tokens);
            let cut = align_backward(events, pruned.ceiling_cut(head_end, tokens));
            // The walk keeps Hermes Agent's three messages; a policy may ask for more.
            let more = policy.tail.min_messages;
            let (cut, floor) = match log.len().saturating_sub(more) {
                most if more > CEILING_MESSAGES && most < cut => (most, TailFloor::Messages),
                _ => (cut, TailFloor::Ceiling),
            };
            (aligned(cut), Some(aligned(pruning_end(policy, log.len()))), floor)
        }
    };
    let mut layout = Layout {
        head_end,
        cover_end,
        untouched: cover_end,
        edits_end: cover_end,
        tail_tokens: 0,
        floor,
        carried_user: None,
    };
    if let Some(limit) = tail_limit
        && pruned.tokens_from(cover_end) > limit
    {
        layout.cover_end = pruned.limited_cut(units, head_end, limit);
        layout.floor = TailFloor::Budget;
    }
    if policy.tail.last_user {
        keep_last_user(&pruned, units, policy, budget, tail_limit, &mut layout);
    }
    layout.edits_end = protected.unwrap_or(layout.cover_end);
    layout.untouched = layout.cover_end.max(layout.edits_end);
    layout.tail_tokens = pruned.tokens_from(layout.cover_end);
    layout
}

/// The end of the head, before it is moved to a boundary of units.
fn head_end(log: &EventLog, head: &HeadPolicy) -> usize {
    let events = log.events();
    let leading = events.iter().take_while(|event| event.view.role.is_system()).count();
    match head.rule {
        HeadRule::System => leading,
        HeadRule::FirstUser => {
            leading + usize::from(events.get(leading).is_some_and(|e| e.view.role == Role::User))
        }
        HeadRule::Messages if head.count_system => head.messages.min(events.len()),
        HeadRule::Messages => (leading + head.messages).min(events.len()),
        HeadRule::Task => task_end(log, leading, head.decay),
    }
}

/// The end of a head that ends after the first task of the user. If the model speaks before any task, the messages
/// before it are the head.
fn task_end(log: &EventLog, leading: usize, decay: bool) -> usize {
    let events = log.events();
    let opening = events[leading..]
        .iter()
        .take_while(|e| e.view.role != Role::Assistant && !e.view.has_results())
        .count();
    let opening = leading..leading + opening;
    let mut users = events.iter().enumerate().filter(|(_, event)| event.view.is_real_user());
    let first = users.next().map(|(at, _)| at);
    // The recap in the log tells the first task, and a second request has replaced it.
    if decay && log.holds_recap() && users.next().is_some() {
        return leading;
    }
    match first {
        Some(at) if opening.contains(&at) => at + 1,
        // The model greeted before the task. The task still says what the session is about.
        Some(at) if at <= opening.end + 1 => at + 1,
        _ => opening.end,
    }
}

/// Below this budget, in tokens, a recap is worth more than a few more messages in the tail, which may be small talk.
const TIGHT: u64 = 1_500;

/// A conversation of fewer tokens is shorter than its recap would be.
const SHORTEST: u64 = 240;

/// The fewest messages of the tail.
fn least_messages(log: &EventLog, policy: &Policy, budget: u64) -> usize {
    policy.tail.min_messages.min(if is_tight(log, policy, budget) { 1 } else { usize::MAX })
}

/// Whether the budget is so small that the recap needs the tokens more than the newest messages do.
fn is_tight(log: &EventLog, policy: &Policy, budget: u64) -> bool {
    let gives_way = policy.recap.fallback == RecapFallback::Computed && !policy.fold.holds_floors();
    gives_way && budget < TIGHT && log.tokens_in(0..log.len()) >= SHORTEST
}

/// Whether the log ends with an answer of the assistant that calls no tool. The user's last message is then done, and
/// no longer more important than earlier ones.
pub(crate) fn is_answered(log: &EventLog) -> bool {
    let last = log.events().last().map(|event| &event.view);
    last.is_some_and(|view| view.role == Role::Assistant && !view.has_calls())
}

/// The cut of the shortest tail that meets both floors, and the floor that decided.
fn floors_cut(log: &EventLog, head_end: usize, least: usize, floor: u64) -> (usize, TailFloor) {
    let len = log.len();
    let mut tokens_held_at = None;
    for cut in (head_end..len).rev() {
        let tokens = log.tokens_in(cut..len) >= floor;
        let messages = len - cut >= least;
        if tokens && tokens_held_at.is_none() {
            tokens_held_at = Some(cut);
        }
        if tokens && messages {
            // The token floor decided if it is first met here, while the tail has more messages than it needs.
            let by_tokens = tokens_held_at == Some(cut) && len - cut > least;
            return (cut, if by_tokens { TailFloor::Tokens } else { TailFloor::Messages });
        }
    }
    (head_end, TailFloor::Everything)
}

/// The end of the events that a policy prunes before it cuts: Hermes Agent leaves its last `protect_last_n` messages
/// alone. The end of the log where a policy cuts first.
pub(crate) fn pruning_end(policy: &Policy, len: usize) -> usize {
    match policy.tail.rule {
        TailRule::Floors => len,
        TailRule::Ceiling => len - policy.tail.protect_messages.min(len.saturating_sub(1)),
    }
}

/// The log with the events of its end as reducers leave them. Hermes Agent prunes first and measures its tail then.
struct PrunedTail<'a> {
    log: &'a EventLog,
    /// The events that reducers change, by their place. Empty under [`TailRule::Floors`].
    events: FxHashMap<usize, Event>,
}

impl<'a> PrunedTail<'a> {
    /// Prunes the events that a walk to the ceiling of a tail of `budget` tokens can reach.
    fn of(
        log: &'a EventLog,
        units: &[EventUnit],
        policy: &Policy,
        head_end: usize,
        budget: u64,
    ) -> Self {
        let most = usize::try_from(ceiling(budget) / MESSAGE_TOKENS).unwrap_or(usize::MAX);
        let reach = log.len().saturating_sub(most.saturating_add(CEILING_MESSAGES + 1));
        let end = pruning_end(policy, log.len());
        let start = snap_back(units, reach).max(head_end).min(end);
        Self { log, events: reduced_events(log, policy, start..end) }
    }

    /// Tokens from event `at` to the end.
    fn tokens_from(&self, at: usize) -> u64 {
        let events = self.log.events();
        let saved = self.events.iter().filter(|(changed, _)| **changed >= at);
        let saved = saved.map(|(at, event)| events[*at].tokens.total - event.tokens.total);
        self.log.tokens_in(at..self.log.len()) - saved.map(u64::from).sum::<u64>()
    }

    /// The tail's cut by Hermes Agent's `_find_tail_cut_by_tokens`, which counts chars/4 + 10 per message.
    fn ceiling_cut(&self, head_end: usize, budget: u64) -> usize {
        let events = self.log.events();
        let len = events.len();
        let min_tail =
            if len > head_end + 1 { CEILING_MESSAGES.min(len - head_end - 1) } else { 0 };
        let mut sum = 0u64;
        let mut cut = len;
        for at in (head_end..len).rev() {
            let cost = rough_tokens(self.events.get(&at).unwrap_or(&events[at]));
            if sum + cost > ceiling(budget) && len - at >= min_tail {
                break;
            }
            sum += cost;
            cut = at;
        }
        let fallback = len - min_tail;
        cut = cut.min(fallback);
        if cut <= head_end { fallback.max(head_end + 1).min(len) } else { cut }
    }

    /// The cut of the longest tail of whole units with at most `limit` tokens. The newest unit is always in it.
    fn limited_cut(&self, units: &[EventUnit], head_end: usize, limit: u64) -> usize {
        let events = self.log.events();
        let (mut cut, mut sum) = (self.log.len(), 0);
        for unit in units.iter().rev().take_while(|unit| unit.events.start >= head_end) {
            let of = |at| u64::from(self.events.get(&at).unwrap_or(&events[at]).tokens.total);
            sum += unit.events.clone().map(of).sum::<u64>();
            if cut < self.log.len() && sum > limit {
                break;
            }
            cut = unit.events.start;
        }
        cut
    }
}

/// The most tokens of a tail of `budget` tokens.
fn ceiling(budget: u64) -> u64 {
    budget.saturating_mul(CEILING_HALVES) / 2
}

/// Hermes Agent's `_align_boundary_backward`: moves a cut before a call with its results, if it is inside that group or
/// right behind it.
pub(crate) fn align_backward(events: &[Event], cut: usize) -> usize {
    if cut == 0 || cut >= events.len() {
        return cut;
    }
    let parent = events[..cut].iter().rposition(|event| !event.view.has_results());
    parent.filter(|at| events[*at].view.blocks.iter().any(BlockView::is_call)).unwrap_or(cut)
}

/// Hermes Agent's tokens of a message beside its content.
const MESSAGE_TOKENS: u64 = 10;

/// Hermes Agent's estimate of tokens: chars/4 of the content and of each call's arguments, plus 10 for the role.
fn rough_tokens(event: &Event) -> u64 {
    let chars = |text: &str| text.chars().count() as u64;
    let (mut content, mut arguments) = (0, 0);
    for block in &event.view.blocks {
        let text = block.text(&event.bytes);
        match block.kind {
            BlockKind::Call { .. } => arguments += chars(&text) / 4,
            BlockKind::Text | BlockKind::Result { .. } => content += chars(&text),
            _ => {}
        }
    }
    content / 4 + MESSAGE_TOKENS + arguments
}

/// Keeps the user's last message out of the middle: the tail is extended to it where that costs at most half as much
/// again, else it is carried as a pin.
fn keep_last_user(
    pruned: &PrunedTail<'_>,
    units: &[EventUnit],
    policy: &Policy,
    budget: u64,
    tail_limit: Option<u64>,
    layout: &mut Layout,
) {
    let log = pruned.log;
    let events = log.events();
    let Some(user) = events.iter().rposition(|event| event.view.is_real_user()) else { return };
    if !layout.middle().contains(&user) || (is_tight(log, policy, budget) && is_answered(log)) {
        return;
    }
    let start = snap_back(units, user);
    let floor = match policy.tail.rule {
        TailRule::Floors => policy.tail.ratio.of(budget),
        TailRule::Ceiling => policy.tail.ratio.of(policy.trigger.threshold_tokens(budget)),
    };
    // Whole units and the least number of messages may have made the tail longer than its floor.
    let floor = floor.max(log.tokens_in(layout.cover_end..log.len()));
    if log.tokens_in(start..log.len()) > floor.saturating_mul(CEILING_HALVES) / 2
        || tail_limit.is_some_and(|limit| pruned.tokens_from(start) > limit)
    {
        layout.carried_user = Some(user);
        return;
    }
    layout.floor = TailFloor::LastUser;
    layout.cover_end = start;
}

/// The first boundary between units at or after `at`.
pub(crate) fn snap_forward(units: &[EventUnit], at: usize) -> usize {
    match unit_over(units, at) {
        Some(unit) if unit.events.start < at => unit.events.end,
        _ => at,
    }
}

/// The last boundary between units at or before `at`.
pub(crate) fn snap_back(units: &[EventUnit], at: usize) -> usize {
    unit_over(units, at).map_or(at, |unit| unit.events.start)
}

/// The unit that holds event `at`; `None` at the end of the log.
fn unit_over(units: &[EventUnit], at: usize) -> Option<&EventUnit> {
    let index = units.partition_point(|unit| unit.events.end <= at);
    units.get(index).filter(|unit| unit.events.contains(&at))
}
