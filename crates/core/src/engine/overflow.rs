//! Recovery after a provider says "too long": take its numbers, compact at once, and never send the same request again
//! (after "What Survives the Compression": compress immediately, then retry).

use super::Session;
use crate::budget::Budget;
use crate::plan::{FoldCause, NoOp, PlanError, PlanOutcome};
use crate::project::Context;
use crate::trigger::Millis;

/// The numbers in a provider's error. The classifier of the formats crate reads them from the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedOverflow {
    /// Tokens of the refused request; `None` where the error does not say.
    pub have: Option<u64>,
    /// Tokens that the provider allows; `None` where the error does not say.
    pub limit: Option<u64>,
}

impl ReportedOverflow {
    /// The window that the error named; `None` where it named none, or a number that no window has.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        self.limit.filter(|limit| WINDOW.contains(limit))
    }

    /// The window to fold for. Where the error names none, it is a tenth less than the smaller of `prompt_tokens`, the tokens
    /// that did not fit, and `window`, the assumed window.
    #[must_use]
    pub fn window_or_guess(&self, window: u64, prompt_tokens: u64) -> u64 {
        self.window().unwrap_or_else(|| {
            window.min(prompt_tokens).saturating_mul(UNKNOWN_EXCESS_PERCENT) / 100
        })
    }
}

/// Why there is nothing to retry with. The caller should then show the provider's own error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The retry after a compaction was too long as well.
    #[error("the request was compacted and is still too long for the provider")]
    StillTooLong,
    /// Nothing can be folded.
    #[error("the request is too long and nothing in it can be folded: {0}")]
    Nothing(NoOp),
    /// The tokens that no fold can take away exceed the budget.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// The least and the most tokens of a window that a number in an error text is taken for (as in Hermes Agent).
const WINDOW: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;
/// Where the error names no number, this share of the refused size, in per cent, is taken for the window.
const UNKNOWN_EXCESS_PERCENT: u64 = 90;

impl Session {
    /// Recovers from a refusal of the last context as too long. The error's numbers correct window and meter, the
    /// context is compacted at once, and the returned context may be sent once.
    ///
    /// # Errors
    /// When a retry was refused as well, or nothing can be folded. The caller should then show the provider's error.
    pub fn recover(
        &mut self,
        budget: &Budget,
        overflow: ReportedOverflow,
        now: Millis,
    ) -> Result<Context, RecoverError> {
        if self.gate.recovering {
            // The retry is over, so a later overflow may be recovered again.
            self.gate.recovering = false;
            return Err(RecoverError::StillTooLong);
        }
        let counted = self.sent.map_or_else(|| self.load().counted, |last| last.counted);
        if let Some(have) = overflow.have.filter(|have| WINDOW.contains(have)) {
            self.meter.anchor(counted, have);
        }
        let estimate = self.meter.calibrated(counted);
        let limit = overflow.window_or_guess(budget.window, estimate);
        // A larger number teaches nothing: the request did not fit into the assumed window either.
        if limit < budget.window {
            self.gate.learned_window = Some(limit);
        }
        let budget = self.gate.budget(budget, &self.policy);
        budget.check().map_err(PlanError::from)?;
        let outcome = self.fold(&budget, None, FoldCause::Overflow)?;
        if let PlanOutcome::Nothing(reason) = outcome {
            return Err(RecoverError::Nothing(reason));
        }
        let context = self.context(&budget, now)?;
        // Only a context that can be sent is a retry, so this is set last.
        self.gate.recovering = true;
        Ok(context)
    }
}
