//! Gathers statements for a recap ahead of time. A fold has to read the whole text of the events that it covers. Here
//! this is done as events come in, a unit or two per append, so that a fold finds it done. Only the time that a fold
//! takes depends on it, never the fold itself: if the gathered events are not those that the fold covers, the fold
//! gathers anew.

use std::sync::Arc;

use crate::budget::Budget;
use crate::event::Event;
use crate::layout::layout;
use crate::log::EventLog;
use crate::plan::{GatherMemo, stays};
use crate::policy::{CoverExtent, Policy, ReducerName, TailRule};
use crate::tools::ToolTable;
use crate::unit::starts_unit;

/// Tokens left to the tail while no budget is known: more than the tail of `default` in a window of 600,000. Gathering too
/// little ahead costs the fold some time, gathering what the tail keeps is for nothing.
const KEEP: u64 = 65_536;
/// The most events that a log may have when gathering begins. A longer log was loaded, not appended to; it is gathered
/// by its next fold.
const BEGIN: usize = 4_096;
/// Units gathered per append. More than one, so that a backlog shrinks.
const STEP: usize = 2;

/// The state of gathering ahead: how far it may go, and what it learned on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct GatherAhead {
    /// The policy's tool table, made at the first use.
    tools: Option<Arc<ToolTable>>,
    /// Tokens left to the tail; 0 while no budget is known.
    keep: u64,
    /// The position of the newest message that the user typed. The tail may carry it, and then it is not covered.
    user: Option<usize>,
    /// Whether a message other than the leading system messages has come.
    begun: bool,
    /// Whether, after that, a message has come that stays without a pin. Then the middle is not one run, and gathering
    /// ahead ends.
    parted: bool,
    /// Where gathering begins; `None` until it was looked for.
    start: Option<usize>,
    /// The start of the unit that was searched last, and the position up to which its end was searched. Long units are
    /// thus scanned once and not once per append.
    looked: (usize, usize),
}

impl GatherAhead {
    /// Sets how many tokens to leave to the tail: those that a fold with this budget would keep, twice.
    pub(super) fn keep_for(&mut self, policy: &Policy, budget: &Budget) {
        let of = match policy.tail.rule {
            TailRule::Floors => budget.tokens(),
            TailRule::Ceiling => policy.trigger.threshold_tokens(budget.tokens()),
        };
        // A cut moves to the start of a unit, and the last turn is kept whole: both make a tail longer than its ratio.
        self.keep = policy.tail.ratio.of(of).saturating_mul(2).max(1);
    }

    /// Tokens to leave to the tail.
    fn keep(&self) -> u64 {
        if self.keep == 0 { KEEP } else { self.keep }
    }

    /// Gathers the next units that no fold to come can have in its tail.
    pub(super) fn gather(
        &mut self,
        log: &EventLog,
        policy: &Policy,
        pins: &[u32],
        memo: &mut GatherMemo,
    ) {
        let len = log.len();
        if log.events().last().is_some_and(|event| event.view.is_real_user()) {
            self.user = Some(len - 1);
        }
        // A fold covers several runs around messages that stay; only the fold itself knows these runs.
        if let Some(newest) = log.events().last() {
            self.parted |= self.begun && stays(log, len - 1);
            self.begun |= !newest.view.role.is_system();
        }
        // The state above is kept up in any case, because policy and pins may change later.
        let has_kept = self.parted || !pins.is_empty() || !policy.keep.is_empty();
        if !covers_middle(policy) || has_kept {
            return;
        }
        let keep = self.keep();
        let mut runs = match memo.runs() {
            [] if len <= BEGIN && log.tokens() > keep => {
                let start = self.start(log, policy);
                std::iter::once(start..start).collect()
            }
            runs => runs.to_vec(),
        };
        let first = memo.runs().first().map(|run| run.start);
        let Some(last) = runs.last_mut() else { return };
        let from = last.end;
        for _ in 0..STEP {
            let next = self.next_unit(log, last.end);
            let Some(end) = next.filter(|end| self.is_behind(log, policy, first, *end)) else {
                break;
            };
            last.end = end;
        }
        if last.end == from {
            return;
        }
        let extended = || Arc::new(ToolTable::builtin().extended(&policy.tools));
        let tools = self.tools.get_or_insert_with(extended);
        memo.extend(log, runs, tools);
    }

    /// Where gathering begins: at the end of the head, which is known once events follow it. The look at all units is
    /// taken once, because a step of thousands of calls brings nothing to gather for as many appends.
    fn start(&mut self, log: &EventLog, policy: &Policy) -> usize {
        if let Some(start) = self.start {
            return start;
        }
        self.user = log.events().iter().rposition(|event: &Event| event.view.is_real_user());
        // Only the end of the head is wanted, which neither budget nor tail changes.
        let start = layout(log, &log.units(), policy, 0, Some(0)).head_end;
        self.start = Some(start);
        start
    }

    /// The end of the unit that starts at `at`; `None` while no later unit has begun.
    fn next_unit(&mut self, log: &EventLog, at: usize) -> Option<usize> {
        let from = if self.looked.0 == at { self.looked.1.max(at + 1) } else { at + 1 };
        let unit_start = (from..log.len()).find(|next| starts_unit(log.events(), *next));
        self.looked = (at, unit_start.unwrap_or(log.len()));
        unit_start
    }

    /// Whether the units before `at` are surely outside of every tail, and hold no user message that a tail may carry.
    /// A user message before the `first` gathered event is part of the head and does not matter here.
    fn is_behind(&self, log: &EventLog, policy: &Policy, first: Option<usize>, at: usize) -> bool {
        let len = log.len();
        let covered = |user: usize| user < at && first.is_some_and(|first| user >= first);
        let carried = policy.tail.last_user && self.user.is_some_and(covered);
        !carried && len - at > policy.tail.min_messages * 2 && log.tokens_in(at..len) >= self.keep()
    }
}

/// Whether each fold by this policy covers its whole middle, whatever the budget is.
fn covers_middle(policy: &Policy) -> bool {
    policy.trigger.on
        && !policy.narration.on
        && policy.recap.cover == CoverExtent::Middle
        && policy.reducers.contains(&ReducerName::Recap)
}
