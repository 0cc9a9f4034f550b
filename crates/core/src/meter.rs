//! The meter: turns counted tokens into the provider's tokens.
//!
//! No counter agrees exactly with the provider. Where a transcript shows what requests really cost, the meter learns
//! the ratio of provider tokens to counted tokens from the growth between two requests; triggers use the calibrated
//! figure. All arithmetic is in parts per 10,000.

use serde::{Deserialize, Serialize};

use crate::budget::Ratio;
use crate::log::EventLog;
use crate::view::Role;

/// The state of the meter, which turns counted tokens into the provider's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Meter {
    /// Provider tokens per counted token; most often more than 1.
    #[serde(deserialize_with = "crate::budget::factor")]
    #[cfg_attr(feature = "schema", schemars(with = "f64", range(min = 0)))]
    pub ratio: Ratio,
    /// The number of requests from which the ratio was learned.
    pub samples: u32,
    /// The share that is added to an estimate before it is compared with a limit.
    pub margin: Ratio,
    /// Tokens of every request that are not in the log: tools and system prompts that only the host knows. They are
    /// the part of the provider's last count that the log does not explain.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unseen: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A sample moves the ratio by one part in this many of its distance, so that one odd request changes little.
const GAIN: i64 = 5;
/// The least and the highest ratio, in parts per 10,000. Measured ratios of providers were 0.9 to 2.2.
const BOUNDS: (u32, u32) = (5_000, 25_000);
/// Growth by fewer counted tokens is not learned from: most of it is framing, and a single small step can be off by
/// half.
const MIN_GROWTH: u64 = 200;

/// The counted tokens that the ratio is taken to be learned from already, where a count lowers it: about a step of an
/// agent. The first requests of a conversation have less, and one ratio of theirs holds where later counts are unusable.
const PRIOR: u64 = 2_000;

impl Meter {
    /// A meter that trusts the counter: for a model's exact vocabulary, or where a count is agreed on.
    #[must_use]
    pub fn exact() -> Self {
        Self { ratio: Ratio::ONE, samples: 0, margin: Ratio(0), unseen: 0 }
    }

    /// The initial meter for a counter of `chars/4`, which counts a quarter to a third too few on the traffic of
    /// agents.
    #[must_use]
    pub fn chars_over_four() -> Self {
        Self { ratio: Ratio(13_500), samples: 0, margin: Ratio(500), unseen: 0 }
    }

    /// The meter for a counter with this name, as long as the provider has counted nothing.
    #[must_use]
    pub fn first(counter: &str) -> Self {
        if counter == "chars:4" { Self::chars_over_four() } else { Self::exact() }
    }

    /// The meter with at least this safety margin.
    #[must_use]
    pub fn with_margin(self, margin: Ratio) -> Self {
        Self { margin: self.margin.max(margin), ..self }
    }

    /// The provider tokens that `counted` tokens correspond to.
    #[must_use]
    pub fn calibrated(&self, counted: u64) -> u64 {
        self.ratio.of(counted).saturating_add(self.unseen)
    }

    /// The counted tokens that correspond to `tokens` of the provider.
    #[must_use]
    pub fn counted(&self, tokens: u64) -> u64 {
        let known = u128::from(tokens.saturating_sub(self.unseen));
        u64::try_from(known * 10_000 / u128::from(self.ratio.0.max(1))).unwrap_or(u64::MAX)
    }

    /// The part of the provider's count of a prompt that is of its history, `counted` tokens by our count; at least 1. The
    /// `beside` tokens of the other part are an estimate: where the whole is less than estimated, both parts are, so that a
    /// short history does not answer for the other one.
    #[must_use]
    pub fn history_of(&self, prompt: u64, counted: u64, beside: u64) -> u64 {
        let estimate = self.calibrated(counted);
        let all = estimate.saturating_add(beside);
        let history = if prompt < all {
            let share = u128::from(prompt) * u128::from(estimate) / u128::from(all);
            u64::try_from(share).unwrap_or(u64::MAX)
        } else {
            prompt - beside
        };
        history.max(1)
    }

    /// The upper estimate that is compared with limits: calibrated tokens plus the margin.
    #[must_use]
    pub fn upper(&self, counted: u64) -> u64 {
        let calibrated = self.calibrated(counted);
        calibrated.saturating_add(self.margin.of(calibrated))
    }

    /// The most counted tokens whose [`Meter::upper`] estimate is within `tokens`.
    ///
    /// ```
    /// let meter = midfold_core::meter::Meter::exact();
    /// assert_eq!(meter.most(16_000), 16_000);
    /// ```
    #[must_use]
    pub fn most(&self, tokens: u64) -> u64 {
        let scale = |tokens: u128, by: u32| tokens * 10_000 / u128::from(by.max(1));
        let known = u128::from(tokens.saturating_sub(self.unseen));
        let bound = scale(scale(known, self.ratio.0), self.margin.0.saturating_add(10_000));
        // The margin is taken of the unseen tokens, too, which the division leaves out, and divisions round. So the most
        // may be far below.
        let (mut least, mut most) = (0, u64::try_from(bound).unwrap_or(u64::MAX));
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if self.upper(middle) <= tokens {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        most
    }

    /// Takes one sample: growth by `counted` tokens was growth by `real` tokens of the provider.
    pub fn observe(&mut self, counted: u64, real: u64) {
        if counted < MIN_GROWTH || real == 0 {
            return;
        }
        let seen = i64::try_from(u128::from(real) * 10_000 / u128::from(counted)).unwrap_or(0);
        let seen = seen.clamp(i64::from(BOUNDS.0), i64::from(BOUNDS.1));
        let now = i64::from(self.ratio.0);
        // The first sample replaces the preset ratio, which is a guess.
        let step = if self.samples == 0 { seen - now } else { (seen - now) / GAIN };
        self.ratio = Ratio(u32::try_from(now + step).unwrap_or(self.ratio.0));
        self.samples = self.samples.saturating_add(1);
    }

    /// Whether `real` can be the provider's count of a request of `counted` tokens. A server that drops messages that do
    /// not fit, or that leaves out what its cache had, counts only the rest.
    #[must_use]
    pub fn may_count(&self, counted: u64, real: u64) -> bool {
        let least = u128::from(self.ratio.0.min(10_000)) * u128::from(BOUNDS.0) / 10_000;
        real > 0 && u128::from(real) * 10_000 >= u128::from(counted) * least
    }

    /// Other readings of the last counts, where by this one nothing fits. The first ones take the unseen tokens for part
    /// of the `counted` ones, because some text is denser than the counter assumes; each takes half as many as the one
    /// before. The last one takes a high ratio for that of such a text.
    pub(crate) fn less_certain(self, counted: u64) -> impl Iterator<Item = Self> {
        let share = u128::from(self.unseen) * 10_000 / u128::from(counted.max(1));
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        let halves = std::iter::successors(Some(share), |share| Some(share / 2));
        let ratios = halves
            .take_while(|share| *share > 0)
            .map(move |share| Ratio(self.ratio.0.saturating_add(share)));
        let usual = Self::chars_over_four().ratio;
        let last = (self.ratio > usual).then_some(usual);
        ratios.chain(last).map(move |ratio| Self { ratio, unseen: 0, ..self })
    }

    /// Takes the provider's count `real` for a whole request of `counted` tokens. If it is higher than expected, the
    /// rest was not in the log (`unseen`). If it is lower, the ratio was too high.
    pub fn anchor(&mut self, counted: u64, real: u64) {
        if counted == 0 || !self.may_count(counted, real) {
            return;
        }
        self.unseen = real.saturating_sub(self.ratio.of(counted));
        if self.unseen == 0 {
            // Little text proves little: the ratio so far counts as much as this many tokens do.
            let (prior, counted) = (u128::from(PRIOR), u128::from(counted));
            let parts = u128::from(real) * 10_000 + prior * u128::from(self.ratio.0);
            let seen = u32::try_from(parts / (counted + prior)).unwrap_or(u32::MAX);
            self.ratio = Ratio(seen.clamp(BOUNDS.0, BOUNDS.1));
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Learns from all usage in the log: how much the provider's count grew between two requests, and how much ours
    /// did. Pairs between which the prompt shrank (a compaction) are skipped.
    pub fn learn(&mut self, log: &EventLog) {
        let mut before: Option<(usize, u64)> = None;
        for (at, event) in log.events().iter().enumerate() {
            let Some(usage) = event.usage.filter(|usage| usage.prompt > 0) else { continue };
            if let Some((from, prompt)) = before
                && usage.prompt > prompt
            {
                self.observe(log.tokens_in(from..prompt_end(log, at)), usage.prompt - prompt);
            }
            // After a compaction, too: growth is then counted from the smaller prompt on.
            before = Some((prompt_end(log, at), usage.prompt));
        }
    }

    /// Tokens of each request that are neither in the log nor in its envelope, by the provider's counts: a system
    /// prompt and tools that the client keeps to itself. It is the median of the newest counts, so a single odd one has
    /// no effect. `None` where no count was recorded.
    #[must_use]
    pub fn beside(&self, log: &EventLog) -> Option<u64> {
        /// How many of the newest counts are used.
        const NEWEST_COUNTS: usize = 9;
        let events = log.events().iter().enumerate().rev();
        let counts = events.filter_map(|(at, event)| {
            let usage = event.usage.filter(|usage| usage.prompt > 0)?;
            let prompt = log.envelope_tokens() + log.tokens_in(0..prompt_end(log, at));
            let known = self.ratio.of(prompt);
            Some(usage.prompt.saturating_sub(known))
        });
        let mut counts: Vec<u64> = counts.take(NEWEST_COUNTS).collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied()
    }
}

/// The number of events in the prompt whose reply has its usage at event `at`. A reply may be several events (Responses:
/// reasoning, a message, a call), of which the last has the usage.
fn prompt_end(log: &EventLog, at: usize) -> usize {
    let earlier = log.events()[..at].iter().rev();
    let of_reply = earlier.take_while(|event| {
        event.view.role == Role::Assistant && !event.view.has_results() && event.usage.is_none()
    });
    at - of_reply.count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_meter_that_counts_more_than_the_counter_is_read_back() {
        let meter = Meter { samples: 3, unseen: 7, ..Meter::chars_over_four() };
        let written = serde_json::to_string(&meter).unwrap();
        assert_eq!(serde_json::from_str::<Meter>(&written).unwrap(), meter);
        let odd = written.replace("1.35", "-1");
        assert!(serde_json::from_str::<Meter>(&odd).unwrap_err().to_string().contains("no ratio"));
    }

    #[test]
    fn many_unseen_tokens_are_taken_off_at_once() {
        let unseen = 1_099_511_627_776;
        let meter = Meter { unseen, ..Meter::chars_over_four() };
        let most = meter.most(2_000_000_000_000);
        let upper = meter.upper(most);
        assert!(upper <= 2_000_000_000_000 && upper > 1_999_999_999_990, "{upper}");
        assert_eq!(meter.most(unseen), 0);
    }

    proptest! {
        /// Counting up to `most` stays within the limit, and `most` is at most a rounding error below the largest such
        /// count.
        #[test]
        fn the_most_is_within_the_limit_and_close_to_it(
            ratio in 5_000u32..20_000, margin in 0u32..5_000, unseen in 0u64..20_000, tokens in 0u64..2_000_000,
        ) {
            let meter = Meter { ratio: Ratio(ratio), samples: 0, margin: Ratio(margin), unseen };
            let most = meter.most(tokens);
            prop_assert!(most == 0 || meter.upper(most) <= tokens);
            prop_assert!(meter.upper(most + 8) > tokens, "{} of {tokens}", most);
        }
    }
}
