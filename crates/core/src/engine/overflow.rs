//! After a provider said "too long": learn the numbers, compact at once, and never send the same
//! request again (What Survives the Compression: compress immediately, then retry).

use super::Session;
use crate::budget::Budget;
use crate::plan::{FoldCause, NoOp, PlanError, PlanOutcome};
use crate::project::Context;
use crate::trigger::Millis;

/// What a provider's error said. The classifier of the formats crate reads it from the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedOverflow {
    /// Tokens that the request had.
    pub have: Option<u64>,
    /// Tokens that are allowed.
    pub limit: Option<u64>,
}

impl ReportedOverflow {
    /// The window that the error named, where that can be one.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        self.limit.filter(|limit| WINDOW.contains(limit))
    }

    /// The window to fold for: the one that the error named, else a tenth less than what did not fit, which
    /// was `sent` tokens for a window that was thought to be `window`.
    #[must_use]
    pub fn window_or_guess(&self, window: u64, sent: u64) -> u64 {
        self.window().unwrap_or_else(|| window.min(sent) * UNKNOWN_EXCESS_PERCENT / 100)
    }
}

/// Why there is nothing to retry with. The original error stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The request after a compaction was too long as well.
    #[error("the request was compacted and is still too long for the provider")]
    StillTooLong,
    /// Nothing can be folded.
    #[error("the request is too long and nothing in it can be folded: {0}")]
    Nothing(NoOp),
    /// What may not be folded is larger than the budget.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Sane limits of a window, for numbers read from a text (Hermes Agent: 1,024 to 10,000,000).
const WINDOW: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;
/// Where the error names no number, the request was this much too long at least.
const UNKNOWN_EXCESS_PERCENT: u64 = 90;

impl Session {
    /// The last context was rejected as too long. Its numbers set window and meter right, the
    /// context is compacted at once, and what is returned is to be sent: once.
    ///
    /// # Errors
    /// When the last recovery did not help either, or nothing can be folded: then the caller
    /// should show the provider's error.
    pub fn recover(
        &mut self,
        budget: &Budget,
        overflow: ReportedOverflow,
        now: Millis,
    ) -> Result<Context, RecoverError> {
        if self.gate.recovering {
            self.gate.recovering = false;
            return Err(RecoverError::StillTooLong);
        }
        let sent = self.sent.map_or_else(|| self.load().counted, |sent| sent.counted);
        if let Some(have) = overflow.have.filter(|have| WINDOW.contains(have)) {
            self.meter.anchor(sent, have);
        }
        let estimate = self.meter.calibrated(sent);
        let limit = overflow.window_or_guess(budget.window, estimate);
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
        self.gate.recovering = true;
        Ok(context)
    }
}
