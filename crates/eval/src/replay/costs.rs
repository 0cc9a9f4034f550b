//! The cost of the requests of a replay, with a cache that may expire between them.

use midfold_core::calendar::Millis;

use crate::prices::{FIVE_MINUTES, HOUR, PriceTable};
use crate::replay::drive::NarrationRequest;
use crate::replay::measures::ReplayMeasures;

/// The price tables of a replay.
pub(super) struct CostTables {
    prices: PriceTable,
    /// The reference table, with the cache lifetime of the chosen one.
    reference: PriceTable,
    /// The chosen table, with cache lifetimes of five minutes and of an hour.
    lifetimes: [PriceTable; 2],
    /// The time of the last request. The outer `None` means that there was none, the inner one that its time is not
    /// known.
    last_request_at: Option<Option<Millis>>,
}

/// A prompt, in tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct PromptTokens {
    /// The tokens of the whole prompt.
    pub tokens: u64,
    /// The tokens at its front that were in the prompt before.
    pub prefix: u64,
}

impl CostTables {
    pub fn new(prices: &PriceTable) -> Self {
        Self {
            reference: PriceTable::reference().living(prices.lifetime_seconds),
            lifetimes: [FIVE_MINUTES, HOUR].map(|seconds| prices.living(Some(seconds))),
            prices: prices.clone(),
            last_request_at: None,
        }
    }

    /// The time since the last request in milliseconds. `None` where one of the two times is not known. Remembers the
    /// time of this request.
    pub fn gap(&mut self, when: Option<Millis>) -> Option<Millis> {
        let before = self.last_request_at.replace(when).flatten()?;
        when.map(|when| when.saturating_sub(before))
    }

    /// Whether the chosen cache has expired after this gap. An unknown gap counts as short.
    pub fn is_cold(&self, gap: Option<Millis>) -> bool {
        is_cold(&self.prices, gap)
    }

    /// Adds the cost of a sent prompt, and that of the raw history in its place. The reference table charges for
    /// messages alone: the `envelope` tokens beside them are the same for every strategy.
    pub fn add(
        &self,
        measures: &mut ReplayMeasures,
        sent_tokens: PromptTokens,
        raw: PromptTokens,
        envelope: u64,
        gap: Option<Millis>,
    ) {
        let bare = |prompt: PromptTokens| PromptTokens {
            tokens: prompt.tokens.saturating_sub(envelope),
            prefix: prompt.prefix.saturating_sub(envelope),
        };
        measures.cost += hundredths(paid(&self.reference, bare(sent_tokens), gap).0);
        measures.raw_cost += hundredths(paid(&self.reference, bare(raw), gap).0);
        let (price, cached) = paid(&self.prices, sent_tokens, gap);
        measures.price += price;
        measures.cached += cached;
        measures.raw_price += paid(&self.prices, raw, gap).0;
        measures.timed += u64::from(gap.is_some());
        measures.cold += u64::from(self.is_cold(gap));
        for (sum, prices) in measures.lifetimes.iter_mut().zip(&self.lifetimes) {
            sum.price += paid(prices, sent_tokens, gap).0;
            sum.raw_price += paid(prices, raw, gap).0;
            sum.cold += u64::from(is_cold(prices, gap));
        }
    }

    /// Adds the cost of a narration: a prompt without cached tokens, and its reply.
    pub fn add_asked(&self, measures: &mut ReplayMeasures, narration: NarrationRequest) {
        let paid = |prices: &PriceTable| {
            prices.prompt(0, narration.prompt).0 + prices.reply(narration.prompt, narration.output)
        };
        measures.cost += hundredths(paid(&self.reference));
        measures.price += paid(&self.prices);
        for (sum, prices) in measures.lifetimes.iter_mut().zip(&self.lifetimes) {
            sum.price += paid(prices);
        }
    }
}

fn is_cold(prices: &PriceTable, gap: Option<Millis>) -> bool {
    gap.is_some_and(|gap| prices.is_cold_after(gap))
}

/// The cost of a prompt after a gap, and the number of its tokens that were read from the cache.
fn paid(prices: &PriceTable, prompt: PromptTokens, gap: Option<Millis>) -> (f64, u64) {
    let prefix = if is_cold(prices, gap) { 0 } else { prompt.prefix };
    prices.prompt(prefix, prompt.tokens)
}

/// The number in hundredths of a token, in which every figure of the reference table is whole.
fn hundredths(tokens: f64) -> u64 {
    (tokens * 100.0).round() as u64
}
