//! Two counters that hold back what does not help: folds that free little, and a model that fails.

use serde::{Deserialize, Serialize};

use crate::calendar::Millis;
use crate::narrate::FailureClass;

/// Folds in a row that freed too little before the breaker trips (Hermes Agent).
pub const STRIKES: u8 = 2;
/// A fold that frees less than this share of what was there is a strike (Hermes Agent: 10 %).
const WORTH_PERCENT: u64 = 10;
/// A tripped breaker lets one fold through after this long: "blocked for ever" is worse than one
/// wasted fold (Hermes Agent: 300 s).
pub const PROBE_AFTER: Millis = 300_000;

/// Stops folding that does not help. Judged by what the provider counts next, not by estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldBreaker {
    /// Folds in a row that freed too little.
    pub strikes: u8,
    /// When the last strike fell.
    pub since: Millis,
    /// Real tokens before the last fold, until it is judged.
    pub waiting: Option<u64>,
}

impl FoldBreaker {
    /// A fold was made of a context of `before` tokens.
    pub fn folded(&mut self, before: u64) {
        self.waiting = Some(before);
    }

    /// The next request cost `after` tokens, what came after the fold taken off.
    pub fn judge(&mut self, after: u64, now: Millis) {
        let Some(before) = self.waiting.take() else { return };
        if before.saturating_sub(after) * 100 < before * WORTH_PERCENT {
            self.strikes = self.strikes.saturating_add(1).min(STRIKES);
            self.since = now;
        } else {
            self.strikes = 0;
        }
    }

    /// Whether folding is held back now.
    #[must_use]
    pub fn blocks(&self, now: Millis) -> bool {
        self.strikes >= STRIKES && now.saturating_sub(self.since) < PROBE_AFTER
    }

    /// A tripped breaker lets a probe through: one more strike trips it again.
    pub(super) fn probe(&mut self, now: Millis) {
        if self.strikes >= STRIKES && !self.blocks(now) {
            self.strikes = STRIKES - 1;
        }
    }
}

/// How long no model is asked after 1, 2, 3 and more failures in a row (Hermes Agent and its
/// code: 60 → 300 → 900 s).
pub const LADDER: [Millis; 3] = [60_000, 300_000, 900_000];

/// The pause after a failure that came after so many others in a row.
#[must_use]
pub fn rung(failures: u32) -> Millis {
    LADDER[(failures as usize).min(LADDER.len() - 1)]
}

/// Keeps a failing model from being asked again and again. Folding goes on without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCooldown {
    /// Failures in a row.
    pub failures: u8,
    /// No model is asked before this.
    pub until: Millis,
    /// The last failure, where it was one of the call and not of the text.
    pub class: Option<FailureClass>,
}

impl ModelCooldown {
    /// The model failed, or what it wrote was refused.
    pub fn failed(&mut self, class: Option<FailureClass>, now: Millis) {
        self.until = now.saturating_add(rung(self.failures.into()));
        self.failures = self.failures.saturating_add(1);
        self.class = class;
    }

    /// The model wrote something usable.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Milliseconds until a model may be asked again.
    #[must_use]
    pub fn left(&self, now: Millis) -> Millis {
        self.until.saturating_sub(now)
    }
}
