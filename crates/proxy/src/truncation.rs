//! What a provider's count says of what it was sent: that it is one, that it is none, or that a part of the prompt
//! was dropped in silence.

use midfold_core::event::Usage;

/// Our count of a request, and the provider's count of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountPair {
    /// Tokens of what was sent, by our own count: what was learned of the provider's would bend to whatever it says.
    pub sent: u64,
    /// Tokens that it counted.
    pub prompt: u64,
}

/// What a count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountKind {
    /// One of the prompt.
    Prompt,
    /// One of something else: of several prompts, of what a cache did not have, of nothing.
    Other,
    /// One of what was left of the prompt: the window of the server, in tokens.
    Truncated(u64),
}

/// Growth that a count has to follow: below it, estimates err by as much.
const GROWTH: u64 = 300;
/// Growth above which two counts are not the same by chance.
const SAME: u64 = 64;
/// A count below this share of the one before is of something else: some servers count what their cache does not
/// have (old Ollama).
const LEAST_PERCENT: u64 = 35;
/// A prompt below this is never too long.
const SHORT: u64 = 1_000;
/// A count is at most so many times the estimate (measured: 0.9 to 2.2 times), and a little more.
const MOST_TIMES_TENTHS: u64 = 25;
const MORE: u64 = 300;

impl CountPair {
    /// What the provider counted, where it counted anything.
    #[must_use]
    pub fn of(sent: u64, usage: Usage) -> Option<Self> {
        (usage.prompt > 0).then_some(Self { sent, prompt: usage.prompt })
    }

    /// What the count is, `before` being the last one that was more than the one before it, of a request that this
    /// one goes on from.
    ///
    /// A count that does not grow although what is sent grew, or falls, is one of what was left. So is a first count
    /// of less than half of what was sent. One that grew by much more than what is sent is the sum of several.
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
        if self.prompt > before.prompt.saturating_add(most(growth) + self.sent / 8) {
            return CountKind::Other;
        }
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

    /// Whether it is no larger than the one before, where more was sent: that one is what the next is held against,
    /// too.
    #[must_use]
    pub fn stands(self, before: Self) -> bool {
        self.sent >= before.sent && self.prompt <= before.prompt + before.prompt / 100
    }
}

/// The most that a provider counts where so many tokens are expected.
fn most(tokens: u64) -> u64 {
    (tokens / 10).saturating_mul(MOST_TIMES_TENTHS) + MORE
}
