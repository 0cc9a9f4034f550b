//! What a replay found, summed. Definitions: docs/MEASURES.md.

use midfold_core::event::Usage;

use crate::replay::class::NameClass;

/// Of so many that were needed, so many were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptShare {
    /// Needed.
    pub need: u64,
    /// Of them, there.
    pub have: u64,
}

impl KeptShare {
    /// Takes one in.
    pub fn take(&mut self, have: bool) {
        self.need += 1;
        self.have += u64::from(have);
    }

    fn add(&mut self, other: Self) {
        self.need += other.need;
        self.have += other.have;
    }

    /// As a ratio; 1 where nothing was needed.
    #[must_use]
    pub fn ratio(self) -> f64 {
        ratio(self.have, self.need)
    }
}

/// Tokens by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokensBy {
    /// System prompts, and what travels beside the messages.
    pub system: u64,
    /// What the user wrote, or a client in the user's role.
    pub user: u64,
    /// What the model wrote.
    pub assistant: u64,
    /// Calls of tools.
    pub call: u64,
    /// Results of tools.
    pub result: u64,
    /// Recaps and markers.
    pub recap: u64,
}

impl TokensBy {
    /// Adds another's.
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

    /// With their names, in the order in which they are shown.
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

/// Prompts by the chosen prices, had the cache one lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgedCost {
    /// Requests that found a cold cache.
    pub cold: u64,
    /// What the prompts cost.
    pub price: f64,
    /// The same for the raw history.
    pub raw_price: f64,
}

impl AgedCost {
    fn add(&mut self, other: &Self) {
        self.cold += other.cold;
        self.price += other.price;
        self.raw_price += other.raw_price;
    }
}

/// What was measured, summed over requests. Add several with [`ReplayMeasures::add`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayMeasures {
    /// Requests.
    pub requests: u64,
    /// Requests at which the raw history exceeded 0.8 windows: recall is counted from there on.
    pub counted: u64,
    /// Identifiers needed next that history holds: in the context.
    pub recall: KeptShare,
    /// The same for those that are not in the newest 12,000 characters of history.
    pub at_risk: KeptShare,
    /// At risk and not in the context: brought back by one search over the log.
    pub reachable: KeptShare,
    /// The second extractor: rare words at risk.
    pub rare: KeptShare,
    /// At risk, by class, in the order of [`NameClass::ALL`].
    pub classes: [KeptShare; NameClass::ALL.len()],
    /// Rules that the user stated: verbatim in the context, summed over counted requests.
    pub rules: KeptShare,
    /// Files that calls changed before the newest fold: named in the context as changed.
    pub modified: KeptShare,
    /// Files that calls read before the newest fold: named in the context as used.
    pub read: KeptShare,
    /// Reads of a file that was read before the newest fold and is no longer in the context.
    pub rereads: u64,
    /// Tokens over all requests.
    pub tokens: u64,
    /// The same, by what they are.
    pub tokens_by: TokensBy,
    /// Largest context.
    pub peak: u64,
    /// Requests above the window.
    pub over: u64,
    /// Contexts that violate the profile.
    pub invalid: u64,
    /// Cost by the reference prices, in hundredths of a token.
    pub cost: u64,
    /// The same for the raw history.
    pub raw_cost: u64,
    /// Cost by the chosen prices, in their unit.
    pub price: f64,
    /// The same for the raw history.
    pub raw_price: f64,
    /// Tokens that a cache would have served.
    pub cached: u64,
    /// Requests that found a cold cache: their prefix cost what is new costs.
    pub cold: u64,
    /// Consecutive requests whose times are both known: the others are taken to find a warm cache.
    pub timed: u64,
    /// The price with a cache that lives for five minutes, and for an hour.
    pub lifetimes: [AgedCost; 2],
    /// Requests whose prefix is shorter than the request before.
    pub breaks: u64,
    /// Folds.
    pub folds: u64,
    /// Narrations that a model was asked for; their cost is in [`ReplayMeasures::cost`] and
    /// [`ReplayMeasures::price`].
    pub summaries: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// What the provider itself counted, over requests that say so.
    pub usage: Usage,
    /// Requests that say so.
    pub usages: u64,
    /// Time of every context that did not fold, in nanoseconds, where a clock was given.
    pub context_time: Vec<u64>,
    /// Time of every context that folded.
    pub fold_time: Vec<u64>,
}

impl ReplayMeasures {
    /// Adds another conversation's figures.
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

    /// At-risk retention if the agent had searched once for what was missing.
    #[must_use]
    pub fn within_reach(&self) -> f64 {
        ratio(self.at_risk.have + self.reachable.have, self.at_risk.need)
    }

    /// Mean context, in tokens.
    #[must_use]
    pub fn mean_context(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.tokens as f64 / self.requests as f64 }
    }

    /// Cost against the raw history, by the reference prices.
    #[must_use]
    pub fn cost_ratio(&self) -> f64 {
        ratio(self.cost, self.raw_cost)
    }

    /// Share of all tokens that a cache would have served.
    #[must_use]
    pub fn hit_share(&self) -> f64 {
        if self.tokens == 0 { 0.0 } else { self.cached as f64 / self.tokens as f64 }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The value below which this share (0 to 1) of the samples lies; `None` without samples.
#[must_use]
pub fn percentile(samples: &[u64], share: f64) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let at = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(at.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied()
}
