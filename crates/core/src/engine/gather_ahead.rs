//! Gathering ahead. What a fold says of the events that it covers has to be read out of all their
//! text; here that is done while they come in, a unit or two an append, so that a fold finds it
//! done. Only how long a fold takes depends on it, never the fold: what was gathered of other events
//! than a fold covers is gathered anew.

use std::sync::Arc;

use crate::budget::Budget;
use crate::event::Event;
use crate::layout::layout;
use crate::log::EventLog;
use crate::plan::{GatherMemo, stays};
use crate::policy::{CoverExtent, Policy, ReducerName, TailRule};
use crate::tools::ToolTable;
use crate::unit::starts_unit;

/// Tokens that stay behind while no budget is known: the default tail of a window of 800,000.
const KEEP: u64 = 65_536;
/// A longer log was loaded, not appended to: nothing is begun in the middle of it, the next fold is.
const BEGIN: usize = 4_096;
/// Units gathered an append. More than one, so that a backlog is caught up.
const STEP: usize = 2;

/// How far gathering may go, and with what.
#[derive(Clone, Debug, Default)]
pub(super) struct GatherAhead {
    /// The policy's tools, from the first use on.
    tools: Option<Arc<ToolTable>>,
    /// Tokens that stay behind; 0 while no budget was seen.
    keep: u64,
    /// The newest real user message: it may be carried, and is no part of what is covered then.
    user: Option<usize>,
    /// Another message than those of the system at the start came …
    begun: bool,
    /// … and then one that stays of itself.
    parted: bool,
    /// Where the unit starts that was looked through last, and how far: it may be long, and grows.
    looked: (usize, usize),
}

impl GatherAhead {
    /// Stays clear of the tail that a fold for this budget would keep.
    pub(super) fn keep_for(&mut self, policy: &Policy, budget: &Budget) {
        let of = match policy.tail.rule {
            TailRule::Floors => budget.tokens(),
            TailRule::Ceiling => policy.trigger.threshold_tokens(budget.tokens()),
        };
        // Twice, for what aligning the cut and keeping the last turn add to a tail.
        self.keep = policy.tail.ratio.of(of).saturating_mul(2).max(1);
    }

    fn keep(&self) -> u64 {
        if self.keep == 0 { KEEP } else { self.keep }
    }

    /// Gathers of the events that are behind the tail of any fold to come.
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
        // What a fold covers around messages that stay is gathered with it.
        if let Some(newest) = log.events().last() {
            self.parted |= self.begun && stays(log, len - 1);
            self.begun |= !newest.view.role.is_system();
        }
        let has_kept = self.parted || !pins.is_empty() || !policy.keep.is_empty();
        if !covers_middle(policy) || has_kept {
            return;
        }
        let keep = self.keep();
        let mut runs = match memo.runs() {
            // The head is known once there is something behind it.
            [] if len <= BEGIN && log.tokens() > keep => {
                let real_user = |event: &Event| event.view.is_real_user();
                self.user = log.events().iter().rposition(real_user);
                let layout = layout(log, &log.units(), policy, 0, Some(0));
                std::iter::once(layout.head_end..layout.head_end).collect()
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

    /// Where the unit that starts at `at` ends, if another one starts there.
    fn next_unit(&mut self, log: &EventLog, at: usize) -> Option<usize> {
        let from = if self.looked.0 == at { self.looked.1.max(at + 1) } else { at + 1 };
        let found = (from..log.len()).find(|next| starts_unit(log.events(), *next));
        self.looked = (at, found.unwrap_or(log.len()));
        found
    }

    /// Whether no tail reaches back to `at`, and no message that may be carried comes before it: one
    /// before the `first` event that is gathered is carried by the head.
    fn is_behind(&self, log: &EventLog, policy: &Policy, first: Option<usize>, at: usize) -> bool {
        let len = log.len();
        let covered = |user: usize| user < at && first.is_some_and(|first| user >= first);
        let carried = policy.tail.last_user && self.user.is_some_and(covered);
        !carried && len - at > policy.tail.min_messages * 2 && log.tokens_in(at..len) >= self.keep()
    }
}

/// Whether a fold by this policy covers all of its middle, whatever else happens.
fn covers_middle(policy: &Policy) -> bool {
    policy.trigger.on
        && !policy.narration.on
        && policy.recap.cover == CoverExtent::Middle
        && policy.reducers.contains(&ReducerName::Recap)
}
