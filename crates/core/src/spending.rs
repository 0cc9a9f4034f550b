//! The cost of a session's requests, and what they would have cost without a fold.

use serde::{Deserialize, Serialize};

use crate::event::Usage;

/// The price of a token of plain input, which is the unit of cost. This and the next two are the reference prices of
/// docs/MEASURES.md: the ratios of the Anthropic models in the tables of `midfold-eval`, with a cache that lives for
/// five minutes. This module knows no other prices.
pub const PLAIN: f64 = 1.0;
/// The price of a token that is read from the cache.
pub const READ: f64 = 0.1;
/// The price of a token that is written to the cache.
pub const WRITE: f64 = 1.25;

/// The tokens of all requests of a session so far, as the provider counted them, and what these requests would have
/// been without folds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSpending {
    /// The number of requests whose cost is known.
    pub calls: u64,
    /// Tokens of the prompts, cached ones included.
    pub prompt: u64,
    /// Tokens of the replies.
    pub output: u64,
    /// Tokens of the prompts that were read from the cache.
    pub cache_read: u64,
    /// Tokens of the prompts that were written to the cache.
    pub cache_write: u64,
    /// The tokens of the same prompts with every message in them; left out if no request was folded, because then both
    /// are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfolded: Option<TokensByPrice>,
}

/// Tokens of prompts by their price, and the size of the newest one. The provider's tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokensByPrice {
    /// Tokens that are neither read from the cache nor written to it.
    pub plain: u64,
    /// Tokens that are read from the cache.
    pub read: u64,
    /// Tokens that are written to the cache.
    pub write: u64,
    /// All tokens of the newest prompt.
    pub last: u64,
}

/// The size of a folded request, and its size without the fold. Both are in the same tokens, whichever these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedPrompt {
    /// Tokens of the request as sent.
    pub sent: u64,
    /// Tokens of the request with every message.
    pub whole: u64,
}

/// The cost of prompts, in tokens at the price of plain input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptCost {
    /// The cost of the prompts as sent.
    pub sent: f64,
    /// The cost of prompts with every message in them, if they had fitted and been cached as well as possible.
    pub everything: f64,
}

impl SessionSpending {
    /// Adds a request: its usage and, where it was folded, its size with and without the fold. A request that was not
    /// folded has the same cost on both sides, even if our counter differs from the provider's: a difference between
    /// counters is no saving.
    pub fn add(&mut self, usage: Usage, folded: Option<FoldedPrompt>) {
        if usage.prompt == 0 {
            return;
        }
        let (read, write) = (usage.cache_read, usage.cache_write);
        let plain = usage.prompt.saturating_sub(read).saturating_sub(write);
        // Taken before this prompt is added: up to the first folded one, all prompts were whole.
        let before = self.sent();
        self.calls += 1;
        self.prompt += usage.prompt;
        self.output += usage.output;
        self.cache_read += read;
        self.cache_write += write;
        let (has_cache, writes) = (self.cache_read + self.cache_write > 0, self.cache_write > 0);
        let Some(folded) = folded else {
            if let Some(all) = &mut self.unfolded {
                all.plain += plain;
                all.read += read;
                all.write += write;
                // A fold that was undone: the cache still holds the longest prompt so far.
                all.last = all.last.max(usage.prompt);
            }
            return;
        };
        let all = self.unfolded.get_or_insert(before);
        let whole = folded.in_tokens_of(usage.prompt);
        // Without folds each prompt would extend the one before, so only its new part would be written to the cache.
        let known = if has_cache { whole.min(all.last) } else { 0 };
        all.read += known;
        let new = whole - known;
        *(if writes { &mut all.write } else { &mut all.plain }) += new;
        all.last = whole;
    }

    /// The prompts as they were sent, by kind of token.
    fn sent(&self) -> TokensByPrice {
        let (read, write) = (self.cache_read, self.cache_write);
        let plain = self.prompt.saturating_sub(read).saturating_sub(write);
        // The mean is used for the size of the newest prompt, which is not known. It only decides how much the first
        // folded prompt would have read from the cache.
        let last = self.prompt.checked_div(self.calls).unwrap_or(0);
        TokensByPrice { plain, read, write, last }
    }

    /// Whether no request was added yet.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The share of prompt tokens that came from the cache; `None` without a request.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn cache_share(&self) -> Option<f64> {
        (self.prompt > 0).then(|| self.cache_read as f64 / self.prompt as f64)
    }

    /// The cost of the prompts at the reference prices (`docs/MEASURES.md`): a token read from the cache costs 0.1, one
    /// written to it 1.25, any other 1. Where the provider reported no use of a cache, neither side has one; where it
    /// reported no writes, new tokens cost 1 on both sides. Without a fold both sides are equal. `None` without a
    /// request.
    ///
    /// ```
    /// use midfold_core::spending::{FoldedPrompt, SessionSpending};
    /// use midfold_core::event::Usage;
    /// let mut spent = SessionSpending::default();
    /// spent.add(Usage { prompt: 1_000, ..Usage::default() }, None);
    /// let cost = spent.cost().unwrap();
    /// assert_eq!((cost.sent, cost.everything), (1_000.0, 1_000.0));
    /// spent.add(Usage { prompt: 500, ..Usage::default() }, Some(FoldedPrompt { sent: 480, whole: 1_920 }));
    /// let cost = spent.cost().unwrap();
    /// assert_eq!((cost.sent, cost.everything), (1_500.0, 3_000.0));
    /// ```
    #[must_use]
    pub fn cost(&self) -> Option<PromptCost> {
        let sent = self.sent();
        let everything = self.unfolded.unwrap_or(sent);
        (self.calls > 0).then(|| PromptCost { sent: sent.cost(), everything: everything.cost() })
    }
}

impl TokensByPrice {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn cost(&self) -> f64 {
        let [plain, read, write] = [self.plain, self.read, self.write].map(|tokens| tokens as f64);
        read * READ + write * WRITE + plain * PLAIN
    }
}

impl FoldedPrompt {
    /// The size of the unfolded request in provider tokens: the provider counted `prompt` for the request as sent.
    fn in_tokens_of(self, prompt: u64) -> u64 {
        let whole = u128::from(prompt) * u128::from(self.whole.max(self.sent));
        u64::try_from(whole / u128::from(self.sent.max(1))).unwrap_or(u64::MAX)
    }
}

impl PromptCost {
    /// How much more every message would have cost, in tokens of plain input.
    #[must_use]
    pub fn saved(&self) -> f64 {
        self.everything - self.sent
    }

    /// The cost as a change from the cost of sending every message, for people: `−60 %` where 60 % was saved, `±0 %`
    /// where nothing was.
    ///
    /// ```
    /// use midfold_core::spending::PromptCost;
    /// assert_eq!(PromptCost { sent: 504.0, everything: 1_000.0 }.change(), "−50 %");
    /// assert_eq!(PromptCost { sent: 1_100.0, everything: 1_000.0 }.change(), "+10 %");
    /// assert_eq!(PromptCost { sent: 999.0, everything: 1_000.0 }.change(), "±0 %");
    /// ```
    #[must_use]
    pub fn change(&self) -> String {
        let share = if self.everything > 0.0 { self.sent / self.everything } else { 1.0 };
        let percent = (share * 100.0 - 100.0).round();
        match percent {
            less if less < 0.0 => format!("−{:.0} %", -less),
            more if more > 0.0 => format!("+{more:.0} %"),
            _ => "±0 %".to_owned(),
        }
    }
}
