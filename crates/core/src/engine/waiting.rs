//! In a small window a fold at the policy's line leaves room for a step or two. Then every second request would fold,
//! and each fold costs the provider's cache. There a fold waits until the next step might not fit.

use super::Session;
use crate::budget::{Budget, Ratio};
use crate::plan::{STEPS, aims_at_size, is_small, step_tokens};
use crate::trigger::{ContextLoad, FoldDue, HoldReason, LineRule, Millis};

/// Estimates of agent traffic by its length are too low by up to this part.
const UNDERCOUNT: Ratio = Ratio(3_500);

impl Session {
    /// Whether a fold is due for `load` in `budget` (from `FoldGate::budget`), and worth more than waiting.
    pub(super) fn due_by(&self, budget: &Budget, load: ContextLoad, now: Millis) -> FoldDue {
        match self.gate.due(&self.policy.trigger, budget, load, now) {
            // A proxy sees each request as a whole, and sends a refused one again; other hosts may have more to send
            // than they say. Lines that are a number of tokens are meant as they are, and imitated tools fold at their
            // own.
            FoldDue::Threshold(line)
                if self.is_answered
                    && line.rule == LineRule::Share
                    && aims_at_size(&self.policy) =>
            {
                let step = self.meter.calibrated(step_tokens(&self.log));
                let fixed = self.meter.calibrated(self.log.envelope_tokens());
                let target = self.policy.fold.target.of(budget.tokens()).max(fixed + step);
                let next = self.unsure_tokens().unwrap_or(step);
                let fits_few = target + STEPS as u64 * step > line.tokens;
                match is_small(budget.tokens(), fixed)
                    && fits_few
                    && load.upper + next <= budget.tokens()
                {
                    true => FoldDue::Held(HoldReason::FewSteps),
                    false => FoldDue::Threshold(line),
                }
            }
            due => due,
        }
    }

    /// What the estimate may be too low by: a part of the messages that the provider has not counted yet. `None` where it
    /// has counted none.
    fn unsure_tokens(&self) -> Option<u64> {
        let (context, _) = self.settled.as_ref()?;
        Some(UNDERCOUNT.of(self.meter.calibrated(self.tokens_since(context.events))))
    }

    /// Tokens of the messages from event `seq` on, in midfold's own count.
    pub(super) fn tokens_since(&self, seq: u32) -> u64 {
        let from = self.log.events().partition_point(|event| event.seq < seq);
        self.log.tokens_in(from..self.log.len())
    }
}
