//! Two safeguards: a breaker against folds that free little, and a cooldown for a model that fails.

use serde::{Deserialize, Serialize};

use crate::calendar::Millis;
use crate::narrate::FailureClass;

/// Folds in a row that free too little before the breaker trips (as in Hermes Agent).
pub const STRIKES: u8 = 2;
/// A fold is a strike if it frees less than this share of the tokens before it, in per cent (as in Hermes Agent).
const WORTH_PERCENT: u64 = 10;
/// A tripped breaker lets one fold through after this many milliseconds: a wasted fold is better than folding never
/// again (Hermes Agent: 300 s).
pub const PROBE_AFTER: Millis = 300_000;

/// Stops folding while it does not help. A fold is judged by the provider's next count, not by estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldBreaker {
    /// Folds in a row that freed too little.
    pub strikes: u8,
    /// When the last strike was counted.
    pub since: Millis,
    /// Provider tokens before the last fold; `None` once that fold is judged.
    pub waiting: Option<u64>,
}

impl FoldBreaker {
    /// Takes note of a fold of a context of `before` tokens.
    pub fn note_folded(&mut self, before: u64) {
        self.waiting = Some(before);
    }

    /// Judges the last fold: the next request cost `after` tokens, without those that came after the fold.
    pub fn judge(&mut self, after: u64, now: Millis) {
        // Only the first count after a fold judges it: later prompts have grown by new messages.
        let Some(before) = self.waiting.take() else { return };
        if before.saturating_sub(after) * 100 < before * WORTH_PERCENT {
            self.strikes = self.strikes.saturating_add(1).min(STRIKES);
            self.since = now;
        } else {
            self.strikes = 0;
        }
    }

    /// Whether the breaker holds folding back now.
    #[must_use]
    pub fn blocks(&self, now: Millis) -> bool {
        self.strikes >= STRIKES && now.saturating_sub(self.since) < PROBE_AFTER
    }

    /// Lets one fold through after the pause. One more strike then trips the breaker again.
    pub(super) fn probe(&mut self, now: Millis) {
        if self.strikes >= STRIKES && !self.blocks(now) {
            self.strikes = STRIKES - 1;
        }
    }
}

/// How long no model is asked after 1, 2, and 3 or more failures in a row, in milliseconds (as in Hermes Agent: 60,
/// 300, 900 s).
pub const LADDER: [Millis; 3] = [60_000, 300_000, 900_000];

/// The pause in milliseconds after a failure that had `failures` others in a row before it.
#[must_use]
pub fn rung(failures: u32) -> Millis {
    LADDER[(failures as usize).min(LADDER.len() - 1)]
}

/// Keeps a failing model from being asked again at once. Folding goes on without narrations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCooldown {
    /// Failures in a row.
    pub failures: u8,
    /// The time before which no model is asked.
    pub until: Millis,
    /// The class of the last failure; `None` where the call worked and the text was refused.
    pub class: Option<FailureClass>,
}

impl ModelCooldown {
    /// Takes note that the call failed (with its class), or that its text was refused (`None`).
    pub fn note_failure(&mut self, class: Option<FailureClass>, now: Millis) {
        // Before the count is raised: the pause follows from the failures before this one.
        self.until = now.saturating_add(rung(self.failures.into()));
        self.failures = self.failures.saturating_add(1);
        self.class = class;
    }

    /// Takes note of a usable narration, which ends the cooldown.
    pub fn note_success(&mut self) {
        *self = Self::default();
    }

    /// Milliseconds until a model may be asked again.
    #[must_use]
    pub fn left(&self, now: Millis) -> Millis {
        self.until.saturating_sub(now)
    }
}
