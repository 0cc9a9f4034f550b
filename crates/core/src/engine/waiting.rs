//! In a small window a fold at the policy's line leaves room for a step or two. Then every second request would fold,
//! and each fold costs the provider's cache. There a fold waits until the next step might not fit.

use super::Session;
use crate::budget::Budget;
use crate::plan::STEPS;
use crate::trigger::{ContextLoad, FoldDue, HoldReason, LineRule};

impl Session {
    /// The decision, where waiting may be worth more than a fold at the line.
    pub(super) fn wait(&self, due: FoldDue, budget: &Budget, load: ContextLoad) -> FoldDue {
        match due {
            // Lines that are a number of tokens are meant as they are, and imitated tools fold at their own.
            FoldDue::Threshold(line)
                if line.rule == LineRule::Share && self.policy.aims_at_size() =>
            {
                let step = self.step_tokens();
                let fixed = self.meter.calibrated(self.log.envelope_tokens());
                let left = self.policy.fold.target.of(budget.tokens()).max(fixed + step);
                // An estimate that no provider has confirmed may be too low, so a step's room stays free.
                let next = if self.meter.samples > 0 { 0 } else { step };
                let fits_few = left + STEPS as u64 * step > line.tokens;
                match fits_few && load.upper + next <= budget.tokens() {
                    true => FoldDue::Held(HoldReason::FewSteps),
                    false => due,
                }
            }
            due => due,
        }
    }

    /// The mean size of the newest steps, as the provider would count them.
    fn step_tokens(&self) -> u64 {
        let events = self.log.events();
        let newest = events.last().map_or(0, |event| event.step);
        let from = newest.saturating_sub(STEPS as u32);
        let steps = events.iter().rev().take_while(|event| event.step > from);
        let tokens = steps.map(|event| u64::from(event.tokens.total)).sum::<u64>();
        self.meter.calibrated(tokens / u64::from((newest - from).max(1)))
    }
}
