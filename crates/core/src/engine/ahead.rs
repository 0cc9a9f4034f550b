//! Gathering ahead. What a fold says of the events that it covers has to be read out of all their
//! text; here that is done while they come in, a unit or two an append, so that a fold finds it
//! done. Only how long a fold takes depends on it, never the fold: what was gathered of other events
//! than a fold covers is gathered anew.

use std::sync::Arc;

use super::Session;
use crate::budget::Budget;
use crate::layout::layout;
use crate::log::Event;
use crate::policy::{Cover, Policy, ReducerName, TailRule};
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
pub(super) struct Ahead {
    /// The policy's tools, from the first use on.
    tools: Option<Arc<ToolTable>>,
    /// Tokens that stay behind; 0 while no budget was seen.
    keep: u64,
    /// The newest real user message: it may be carried, and is no part of what is covered then.
    user: Option<usize>,
}

impl Ahead {
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
}

/// Whether a fold by this policy covers all of its middle, whatever else happens.
fn covers_middle(policy: &Policy) -> bool {
    policy.trigger.on
        && !policy.narration.on
        && policy.recap.cover == Cover::Middle
        && policy.reducers.contains(&ReducerName::Recap)
}

impl Session {
    /// Gathers of the events that are behind the tail of any fold to come.
    pub(super) fn gather_ahead(&mut self) {
        let len = self.log.len();
        if self.log.events().last().is_some_and(|event| event.view.is_real_user()) {
            self.ahead.user = Some(len - 1);
        }
        if !covers_middle(&self.policy) || !self.pins.is_empty() {
            return;
        }
        let keep = self.ahead.keep();
        let mut runs = match self.gathered.runs() {
            // The head is known once there is something behind it.
            [] if len <= BEGIN && self.log.tokens() > keep => {
                let real_user = |event: &Event| event.view.is_real_user();
                self.ahead.user = self.log.events().iter().rposition(real_user);
                let layout = layout(&self.log, &self.log.units(), &self.policy, 0, Some(0));
                std::iter::once(layout.head_end..layout.head_end).collect()
            }
            runs => runs.to_vec(),
        };
        let Some(last) = runs.last_mut() else { return };
        let from = last.end;
        for _ in 0..STEP {
            let Some(end) = self.next_unit(last.end).filter(|end| self.is_behind(*end, keep))
            else {
                break;
            };
            last.end = end;
        }
        if last.end == from {
            return;
        }
        let policy = &self.policy;
        let tools = self
            .ahead
            .tools
            .get_or_insert_with(|| Arc::new(ToolTable::builtin().extended(&policy.tools)));
        self.gathered.extend(self.log.events(), runs, tools);
    }

    /// Where the unit that starts at `at` ends, if another one starts there.
    fn next_unit(&self, at: usize) -> Option<usize> {
        (at + 1..self.log.len()).find(|next| starts_unit(self.log.events(), *next))
    }

    /// Whether no tail reaches back to `at`, and no message that may be carried comes before it.
    fn is_behind(&self, at: usize, keep: u64) -> bool {
        let len = self.log.len();
        let carried = self.policy.tail.last_user
            && self.ahead.user.is_some_and(|user| {
                // One in the head is carried by it.
                user < at && self.gathered.runs().first().is_some_and(|run| user >= run.start)
            });
        !carried
            && len - at > self.policy.tail.min_messages * 2
            && self.log.tokens_in(at..len) >= keep
    }
}
