//! The sums of a replay. Definitions: docs/MEASURES.md.

use std::collections::BTreeMap;

use midfold_core::event::Usage;

use crate::replay::class::NameClass;

/// How many of the needed items were in the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptShare {
    /// The number of needed items.
    pub need: u64,
    /// The number of those that were in the context.
    pub have: u64,
}

impl KeptShare {
    /// Counts one needed item.
    pub fn take(&mut self, have: bool) {
        self.need += 1;
        self.have += u64::from(have);
    }

    fn add(&mut self, other: Self) {
        self.need += other.need;
        self.have += other.have;
    }

    /// The ratio; 1 where nothing was needed.
    #[must_use]
    pub fn ratio(self) -> f64 {
        ratio(self.have, self.need)
    }
}

/// Tokens by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokensBy {
    /// The tokens of system prompts and of the envelope.
    pub system: u64,
    /// The tokens of the user, and of a client in the user's role.
    pub user: u64,
    /// The tokens of the model.
    pub assistant: u64,
    /// The tokens of calls.
    pub call: u64,
    /// The tokens of results.
    pub result: u64,
    /// The tokens of recaps and markers.
    pub recap: u64,
}

impl TokensBy {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.system += other.system;
        self.user += other.user;
        self.assistant += other.assistant;
        self.call += other.call;
        self.result += other.result;
        self.recap += other.recap;
    }

    pub(super) fn take(&mut self, other: &Self) {
        self.system = self.system.saturating_sub(other.system);
        self.user = self.user.saturating_sub(other.user);
        self.assistant = self.assistant.saturating_sub(other.assistant);
        self.call = self.call.saturating_sub(other.call);
        self.result = self.result.saturating_sub(other.result);
        self.recap = self.recap.saturating_sub(other.recap);
    }

    /// The counts with their names, in the order in which they are shown.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("system", self.system),
            ("user", self.user),
            ("assistant", self.assistant),
            ("call", self.call),
            ("result", self.result),
            ("recap", self.recap),
        ]
    }
}

/// The cost of prompts by the chosen prices, with a cache of one fixed lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgedCost {
    /// The number of requests that found an expired cache.
    pub cold: u64,
    /// The cost of the prompts.
    pub price: f64,
    /// The cost of the prompts of the raw history.
    pub raw_price: f64,
}

impl AgedCost {
    fn add(&mut self, other: &Self) {
        self.cold += other.cold;
        self.price += other.price;
        self.raw_price += other.raw_price;
    }
}

/// The measures, summed over requests. [`ReplayMeasures::add`] adds those of several conversations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayMeasures {
    /// The number of requests.
    pub requests: u64,
    /// The number of requests at which the raw history exceeded 0.8 of the window. Recall is counted at these.
    pub counted: u64,
    /// Identifiers of the history that the next message needed: how many were in the context.
    pub recall: KeptShare,
    /// The share for identifiers that are not in the newest 12,000 characters of the history.
    pub at_risk: KeptShare,
    /// Identifiers at risk that were not in the context: how many one search over the log brings back.
    pub reachable: KeptShare,
    /// Rare words at risk, found by the second extractor.
    pub rare: KeptShare,
    /// Identifiers at risk by class, in the order of [`NameClass::ALL`].
    pub classes: [KeptShare; NameClass::ALL.len()],
    /// Rules that the user stated: how many are verbatim in the context, summed over counted requests.
    pub rules: KeptShare,
    /// Files that calls changed before the newest fold: how many the context mentions as changed.
    pub modified: KeptShare,
    /// Files that calls read before the newest fold: how many the context mentions as used.
    pub read: KeptShare,
    /// The number of reads of a file that was read before the newest fold and is no longer in the context.
    pub rereads: u64,
    /// The tokens of all requests.
    pub tokens: u64,
    /// The tokens of all requests by kind.
    pub tokens_by: TokensBy,
    /// The tokens of the largest context.
    pub peak: u64,
    /// The number of requests above the window.
    pub over: u64,
    /// The number of contexts that violate the profile.
    pub invalid: u64,
    /// The cost by the reference prices, in hundredths of a token.
    pub cost: u64,
    /// The cost of the raw history by the reference prices, in hundredths of a token.
    pub raw_cost: u64,
    /// The cost by the chosen prices, in their unit.
    pub price: f64,
    /// The cost of the raw history by the chosen prices, in their unit.
    pub raw_price: f64,
    /// The tokens that were read from the cache.
    pub cached: u64,
    /// The number of requests that found an expired cache, so that their whole prompt was written anew.
    pub cold: u64,
    /// The number of requests whose time and that of the request before are both known. All others count as having a
    /// warm cache.
    pub timed: u64,
    /// The costs with a cache that lives for five minutes, and for an hour.
    pub lifetimes: [AgedCost; 2],
    /// The number of requests of which the request before is not the start.
    pub breaks: u64,
    /// The number of folds.
    pub folds: u64,
    /// The number of folds by their cause ([`FoldCause::name`](midfold_core::trigger::FoldCause::name)), without those of engines outside of midfold.
    pub causes: BTreeMap<&'static str, u64>,
    /// The number of narrations that a model was asked for. Their cost is part of [`ReplayMeasures::cost`] and
    /// [`ReplayMeasures::price`].
    pub summaries: u64,
    /// The number of narrations that were accepted.
    pub accepted: u64,
    /// The provider's own counts, over requests that have them.
    pub usage: Usage,
    /// The number of requests with such counts.
    pub usages: u64,
    /// The time of every request without a fold, in nanoseconds. Empty without a clock.
    pub context_time: Vec<u64>,
    /// The time of every request with a fold, in nanoseconds.
    pub fold_time: Vec<u64>,
}

impl ReplayMeasures {
    /// Adds the measures of another conversation.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.counted += other.counted;
        self.recall.add(other.recall);
        self.at_risk.add(other.at_risk);
        self.reachable.add(other.reachable);
        self.rare.add(other.rare);
        self.classes.iter_mut().zip(other.classes).for_each(|(sum, more)| sum.add(more));
        self.rules.add(other.rules);
        self.modified.add(other.modified);
        self.read.add(other.read);
        self.rereads += other.rereads;
        self.tokens += other.tokens;
        self.tokens_by.add(&other.tokens_by);
        self.peak = self.peak.max(other.peak);
        self.over += other.over;
        self.invalid += other.invalid;
        self.cost += other.cost;
        self.raw_cost += other.raw_cost;
        self.price += other.price;
        self.raw_price += other.raw_price;
        self.cached += other.cached;
        self.cold += other.cold;
        self.timed += other.timed;
        self.lifetimes.iter_mut().zip(&other.lifetimes).for_each(|(sum, more)| sum.add(more));
        self.breaks += other.breaks;
        self.folds += other.folds;
        for (cause, folds) in &other.causes {
            *self.causes.entry(cause).or_default() += folds;
        }
        self.summaries += other.summaries;
        self.accepted += other.accepted;
        self.usage.prompt += other.usage.prompt;
        self.usage.output += other.usage.output;
        self.usage.cache_read += other.usage.cache_read;
        self.usage.cache_write += other.usage.cache_write;
        self.usages += other.usages;
        self.context_time.extend(&other.context_time);
        self.fold_time.extend(&other.fold_time);
    }

    /// The share of identifiers at risk that were in the context or that one search would have brought back.
    #[must_use]
    pub fn within_reach(&self) -> f64 {
        ratio(self.at_risk.have + self.reachable.have, self.at_risk.need)
    }

    /// The mean tokens of a context.
    #[must_use]
    pub fn mean_context(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.tokens as f64 / self.requests as f64 }
    }

    /// The cost as a share of that of the raw history, by the reference prices.
    #[must_use]
    pub fn cost_ratio(&self) -> f64 {
        ratio(self.cost, self.raw_cost)
    }

    /// The share of all tokens that were read from the cache.
    #[must_use]
    pub fn hit_share(&self) -> f64 {
        if self.tokens == 0 { 0.0 } else { self.cached as f64 / self.tokens as f64 }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The value below which this share (0 to 1) of the samples is. `None` without samples.
#[must_use]
pub fn percentile(samples: &[u64], share: f64) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    // This is the nearest rank: a sample, and no value between two.
    let at = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(at.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied()
}
