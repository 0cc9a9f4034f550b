//! In a small window a fold at the policy's line leaves room for a step or two. Then every second request would fold,
//! and each fold costs the provider's cache. There a fold waits until the next step might not fit.

use super::Session;
use crate::budget::Budget;
use crate::plan::{SMALL_ROOM, STEPS, aims_at_size, step_tokens};
use crate::trigger::{ContextLoad, FoldDue, HoldReason, LineRule};

impl Session {
    /// The decision, where waiting may be worth more than a fold at the line.
    pub(super) fn wait(&self, due: FoldDue, budget: &Budget, load: ContextLoad) -> FoldDue {
        match due {
            // Lines that are a number of tokens are meant as they are, and imitated tools fold at their own.
            FoldDue::Threshold(line)
                if line.rule == LineRule::Share && aims_at_size(&self.policy) =>
            {
                let step = self.meter.calibrated(step_tokens(&self.log));
                let fixed = self.meter.calibrated(self.log.envelope_tokens());
                let left = self.policy.fold.target.of(budget.tokens()).max(fixed + step);
                // An estimate that no provider has confirmed may be too low, so a step's room stays free.
                let next = if self.meter.samples > 0 { 0 } else { step };
                let is_small = budget.tokens().saturating_sub(fixed) < SMALL_ROOM;
                let fits_few = left + STEPS as u64 * step > line.tokens;
                match is_small && fits_few && load.upper + next <= budget.tokens() {
                    true => FoldDue::Held(HoldReason::FewSteps),
                    false => due,
                }
            }
            due => due,
        }
    }
}
