//! Judges a provider's token count of a prompt: it may count the prompt, count something else, or show that the server
//! silently dropped a part of the prompt.

use midfold_core::event::Usage;

/// Two counts of a request in tokens: midfold's and the provider's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountPair {
    /// Midfold's own count, uncorrected: a count that is corrected by the provider's would follow any error of it.
    pub sent: u64,
    /// Tokens that it counted.
    pub prompt: u64,
}

/// The meaning of a provider's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountKind {
    /// It counts the prompt.
    Prompt,
    /// It counts something else: several prompts, only the part that was not cached, or nothing.
    Other,
    /// It counts the part of the prompt that was left after truncation: the server's window in tokens.
    Truncated(u64),
}

/// The growth of a prompt in tokens that must show in the count. Estimates may err by less than this.
const GROWTH: u64 = 300;
/// If a prompt grew by more than this many tokens, two equal counts are no coincidence.
const SAME: u64 = 64;
/// A count below this share of the one before is not of the prompt: some servers (old Ollama) count only the tokens
/// that their cache did not have.
const LEAST_PERCENT: u64 = 35;
/// A prompt of fewer tokens than this is never truncated.
const SHORT: u64 = 1_000;
/// A count is at most this many tenths of the estimate (measured: 0.9 to 2.2 times the estimate), plus `MORE`.
const MOST_TIMES_TENTHS: u64 = 25;
const MORE: u64 = 300;

impl CountPair {
    /// The two counts; `None` if the provider counted nothing.
    #[must_use]
    pub fn of(sent: u64, usage: Usage) -> Option<Self> {
        (usage.prompt > 0).then_some(Self { sent, prompt: usage.prompt })
    }

    /// Judges this count. `before` is the last count that was larger than the one before it, of an earlier request of
    /// the same conversation.
    ///
    /// A count that stays the same or falls although the prompt grew means truncation. So does a first count of less
    /// than half of the tokens that were sent. A count that grew by much more than the prompt is the sum of several
    /// prompts.
    #[must_use]
    pub fn judge(self, before: Option<Self>) -> CountKind {
        let Some(before) = before else {
            let is_half = self.prompt >= SHORT && self.prompt.saturating_mul(2) < self.sent;
            return match self.prompt > most(self.sent) {
                true => CountKind::Other,
                false if is_half => CountKind::Truncated(self.prompt),
                false => CountKind::Prompt,
            };
        };
        let growth = self.sent.saturating_sub(before.sent);
        // The prompt cannot have grown by this much, so several prompts were counted together.
        if self.prompt > before.prompt.saturating_add(most(growth) + self.sent / 8) {
            return CountKind::Other;
        }
        // The count grew, or the prompt did not: nothing shows that a part was dropped.
        if !self.stands(before) || self.sent <= before.sent {
            return CountKind::Prompt;
        }
        if self.prompt < SHORT || self.prompt * 100 < before.prompt * LEAST_PERCENT {
            return CountKind::Other;
        }
        let is_same = self.prompt == before.prompt && growth > SAME;
        let is_less = growth > GROWTH.max(before.sent / 20) && self.prompt < self.sent;
        match is_same || is_less {
            true => CountKind::Truncated(self.prompt.max(before.prompt)),
            false => CountKind::Prompt,
        }
    }

    /// Whether this count is not larger than the one before, although no less was sent. Later counts are then still
    /// compared with the one before.
    #[must_use]
    pub fn stands(self, before: Self) -> bool {
        self.sent >= before.sent && self.prompt <= before.prompt + before.prompt / 100
    }
}

/// The most that a provider counts if `tokens` are expected.
fn most(tokens: u64) -> u64 {
    (tokens / 10).saturating_mul(MOST_TIMES_TENTHS) + MORE
}
