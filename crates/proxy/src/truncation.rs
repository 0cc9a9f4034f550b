//! Judges a provider's token counts of the prompts of one conversation: they may count the prompt, count something else,
//! or show that the server silently dropped a part of the prompt. No single count proves that.

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
    /// It counts something else, or nothing shows that it counts the prompt: several prompts, only the part that was
    /// not cached, or nothing.
    Other,
    /// It counts the part of the prompt that was left after truncation. The server reads at most so many tokens.
    Truncated(u64),
}

/// The counts of one conversation so far, as far as the next count is compared with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountTrail {
    /// The largest count since the prompt last became shorter.
    top: Option<CountPair>,
    /// A count that is larger than the prompt can explain.
    jump: Option<CountPair>,
    /// Whether a count has grown with the prompt. One that never did says nothing when it stays the same.
    follows: bool,
    /// Tokens of the request before.
    sent: u64,
    /// How many counts since `top` showed that a part of the prompt was dropped.
    signs: u8,
    /// The tokens that the server reads at most, where repeated signs show that.
    cut: Option<u64>,
}

/// The number of signs that show a truncation. One may have another cause.
const SIGNS: u8 = 2;
/// The growth of a prompt in tokens that must show in the count. Estimates may err by less than this.
const GROWTH: u64 = 300;
/// If a prompt grew by more than this many tokens, two equal counts are no coincidence.
const SAME: u64 = 64;
/// A count below this share of the largest one is not of the prompt: some servers (old Ollama) count only the tokens
/// that their cache did not have.
const LEAST_PERCENT: u64 = 35;
/// A prompt of fewer tokens than this is never truncated.
const SHORT: u64 = 1_000;
/// A count is at most this many tenths of the estimate (measured: 0.9 to 2.2 times the estimate), plus `MORE`.
const MOST_TIMES_TENTHS: u64 = 25;
const MORE: u64 = 300;
/// Caches hold whole blocks of tokens, of at most this many.
const CACHE_BLOCK: u64 = 1_024;
/// A count of at least this share of the estimate counts the whole prompt. An error of this size still folds in time.
const WHOLE_PERCENT: u64 = 80;

impl CountPair {
    /// The two counts; `None` if the provider counted nothing.
    #[must_use]
    pub fn of(sent: u64, usage: Usage) -> Option<Self> {
        (usage.prompt > 0).then_some(Self { sent, prompt: usage.prompt })
    }

    /// Whether it counts so much of the estimate that no large part can be missing.
    fn is_whole(self) -> bool {
        self.prompt * 100 >= self.sent * WHOLE_PERCENT
    }

    /// Whether the prompt grew since `before` and the count did not.
    fn stands(self, before: Self) -> bool {
        self.sent >= before.sent && !self.exceeds(before.prompt)
    }

    fn exceeds(self, tokens: u64) -> bool {
        self.prompt > tokens + tokens / 100
    }

    /// Whether this count follows `before`: it is larger by no more than the prompt grew.
    fn follows(self, before: Self) -> bool {
        let grown = most(self.sent.saturating_sub(before.sent));
        self.sent >= before.sent
            && self.prompt > before.prompt
            && self.prompt - before.prompt <= grown
    }
}

impl CountTrail {
    /// The tokens that the server reads at most, if the counts showed that it drops the rest.
    #[must_use]
    pub fn cut(&self) -> Option<u64> {
        self.cut
    }

    /// Judges the next count. `is_set` says that somebody set the window, and `unsure` is the tokens of reasoning and
    /// pictures in the prompt: a provider may leave them out.
    pub fn judge(
        &mut self,
        now: CountPair,
        is_set: bool,
        unsure: impl FnOnce() -> u64,
    ) -> CountKind {
        let growth = now.sent.saturating_sub(std::mem::replace(&mut self.sent, now.sent));
        // A server that counts only what its cache did not have counts what is new since the request before.
        let may_be_new_part = now.prompt <= most(growth);
        if self.is_jump(now) {
            // Where the next count follows it, the text is denser than the estimate assumes.
            let is_repeated = self.jump.replace(now).is_some_and(|before| now.follows(before));
            return if is_repeated { self.accept(now) } else { CountKind::Other };
        }
        self.jump = None;
        match self.top {
            Some(top) if now.stands(top) => {
                // A conversation that is too long from the start: only where nobody set the window is it judged by
                // counts that never grew.
                let is_short =
                    !is_set && !top.is_whole() && now.prompt > most(growth) + CACHE_BLOCK;
                let may_be_sign = if self.follows { !may_be_new_part } else { is_short };
                self.judge_standing(now, top, may_be_sign, unsure)
            }
            Some(top) if now.sent >= top.sent && !may_be_new_part => {
                self.follows = true;
                self.accept(now)
            }
            top if now.is_whole() => {
                self.follows |= top.is_some_and(|top| now.sent > top.sent);
                self.accept(now)
            }
            _ => {
                (self.top, self.signs) = (Some(now), 0);
                CountKind::Other
            }
        }
    }

    /// Judges a count that did not grow although the prompt did.
    fn judge_standing(
        &mut self,
        now: CountPair,
        top: CountPair,
        may_be_sign: bool,
        unsure: impl FnOnce() -> u64,
    ) -> CountKind {
        if now.prompt < SHORT || now.prompt * 100 < top.prompt * LEAST_PERCENT {
            self.signs = 0;
            return CountKind::Other;
        }
        let growth = now.sent - top.sent;
        let expected = |tokens: u64| scaled(top.prompt, tokens, top.sent);
        let (all, least) = (expected(now.sent), expected(now.sent.saturating_sub(unsure())));
        let is_less = |percent: u64| now.prompt * 100 < least * percent;
        let is_same = now.prompt == top.prompt && now.prompt < least && growth > SAME;
        let is_dropped =
            is_same || (is_less(95) && growth > GROWTH) || (is_less(75) && growth > SAME);
        if !is_dropped {
            let is_count = now.is_whole() && now.prompt * 100 >= all * 75;
            return if is_count { CountKind::Prompt } else { CountKind::Other };
        }
        if !may_be_sign {
            return CountKind::Other;
        }
        self.signs += 1;
        if self.signs < SIGNS {
            return CountKind::Other;
        }
        (self.signs, self.cut) = (0, Some(top.prompt));
        CountKind::Truncated(top.prompt)
    }

    /// Takes a count of a prompt. A larger one than the server was thought to read takes that back.
    fn accept(&mut self, now: CountPair) -> CountKind {
        (self.top, self.signs) = (Some(now), 0);
        self.cut = self.cut.filter(|cut| !now.exceeds(*cut));
        CountKind::Prompt
    }

    /// Whether the prompt cannot have this many tokens, so that several prompts were counted together or the text is
    /// denser than any that was measured.
    fn is_jump(&self, now: CountPair) -> bool {
        let Some(top) = self.top.filter(|top| top.is_whole()) else {
            return now.prompt > most(now.sent);
        };
        let growth = now.sent.saturating_sub(top.sent);
        now.prompt > top.prompt.saturating_add(most(growth) + now.sent / 8)
    }
}

/// The most that a provider counts if `tokens` are expected.
fn most(tokens: u64) -> u64 {
    (tokens / 10).saturating_mul(MOST_TIMES_TENTHS) + MORE
}

/// `count` for `tokens` in place of `of`.
fn scaled(count: u64, tokens: u64, of: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(tokens) / u128::from(of.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
