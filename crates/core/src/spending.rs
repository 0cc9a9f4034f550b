//! The cost of a session's requests, and what the same client would have paid without folds.

use serde::{Deserialize, Serialize};

use crate::budget::Ratio;
use crate::event::{Hash, Usage};
use crate::trigger::Millis;

/// The price of a token of plain input, which is the unit of cost. This and the next two are the reference prices of
/// docs/MEASURES.md: the ratios of the Anthropic models in the tables of `midfold-eval`, with a cache that lives for
/// five minutes. This module knows no other prices.
pub const PLAIN: f64 = 1.0;
/// The price of a token that is read from the cache.
pub const READ: f64 = 0.1;
/// The price of a token that is written to the cache.
pub const WRITE: f64 = 1.25;

/// How long a prompt is in the provider's cache if nobody said it: five minutes, in milliseconds.
const LIFETIME: Millis = 300_000;

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
    /// The tokens of the client's requests with every message in them; left out if no request was folded, because then
    /// both are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfolded: Option<TokensByPrice>,
    /// The newest request, from which the next one goes on; left out before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<NewestPrompt>,
}

/// Tokens of prompts by their price, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokensByPrice {
    /// Tokens that are neither read from the cache nor written to it.
    pub plain: u64,
    /// Tokens that are read from the cache.
    pub read: u64,
    /// Tokens that are written to the cache.
    pub write: u64,
}

/// The newest request of a session: what was sent, and what it would have been with every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NewestPrompt {
    /// Its tokens as sent, by the provider's count.
    sent: u64,
    /// Its tokens with every message, in the provider's tokens.
    whole: u64,
    /// The same in midfold's own count.
    counted: u64,
    /// The fold that it was read through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fold: Option<Hash>,
    /// The tokens of the whole that a cache would have for the next request.
    cached: u64,
    /// The tokens at its end that the cache did not have for the next request, the last time that one could tell.
    missed: u64,
    /// When it was answered.
    at: Millis,
}

/// A request as the account of its session needs it. Tokens are in midfold's own count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpentPrompt {
    /// Tokens of the request with every message.
    pub counted: u64,
    /// Provider tokens per counted token.
    pub ratio: Ratio,
    /// What a fold made of it; `None` if it was sent with every message.
    pub folded: Option<FoldedPrompt>,
    /// Whether it is midfold's own: it goes on after a look-up, of which the client does not know.
    pub is_own: bool,
    /// When it was answered, in milliseconds since 1970.
    pub at: Millis,
    /// How long the provider keeps a prompt in its cache, in milliseconds; `None` if nobody said it.
    pub lifetime: Option<Millis>,
}

/// What a fold made of a request. Tokens are in midfold's own count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedPrompt {
    /// The id of the fold.
    pub fold: Hash,
    /// Tokens in front of what the fold changed.
    pub head: u64,
    /// Tokens that the fold left out.
    pub left_out: u64,
}

/// The cost of prompts, in tokens at the price of plain input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptCost {
    /// The cost of the prompts as sent.
    pub sent: f64,
    /// The cost of the client's prompts with every message in them, if they had fitted.
    pub everything: f64,
}

impl SessionSpending {
    /// Adds a request: its usage and its shape. Without a shape, the request has the same cost on both sides.
    ///
    /// A request that was not folded has the same cost on both sides, even if our counter differs from the provider's:
    /// a difference between counters is no saving. Of a folded one, each fold's first request is estimated; the others
    /// grow by what the provider counts.
    pub fn add(&mut self, usage: Usage, prompt: Option<SpentPrompt>) {
        if usage.prompt == 0 {
            return;
        }
        let usage = usage.bounded();
        let part = TokensByPrice::of(usage);
        // Taken before this prompt is added: up to the first folded one, all prompts were whole.
        let before = self.sent();
        self.calls += 1;
        self.prompt += usage.prompt;
        self.output += usage.output;
        self.cache_read += part.read;
        self.cache_write += part.write;
        let Some(prompt) = prompt else {
            self.unfolded.iter_mut().for_each(|all| all.add(part));
            return;
        };
        if let Some(newest) = self.newest.as_mut().filter(|_| prompt.is_own) {
            // Without midfold there is no such request, and its look-up is not in the whole.
            (newest.sent, newest.counted) = (usage.prompt, prompt.counted);
            self.unfolded.get_or_insert(before);
            return;
        }
        let (whole, all) = self.without_fold(usage.prompt, part, prompt);
        match prompt.folded {
            Some(_) => self.unfolded.get_or_insert(before).add(all),
            None => self.unfolded.iter_mut().for_each(|sum| sum.add(all)),
        }
        let missed = self.missed(part.read, prompt);
        let warm = self.newest.as_ref().filter(|before| !before.is_cold_at(prompt));
        let before_cached = warm.map_or(0, |before| before.cached);
        let cached = match (self.cache_read, self.cache_write) {
            (0, 0) => 0,
            // What such a provider has ends at a mark. An older mark holds where a request has none at its end.
            (_, 1..) => before_cached.max(all.read + all.write),
            // A cache that ended early ends there again.
            _ if missed > whole / 2 => all.read,
            _ => whole.saturating_sub(missed),
        };
        let fold = prompt.folded.map(|folded| folded.fold);
        let (sent, counted, at) = (usage.prompt, prompt.counted, prompt.at);
        self.newest = Some(NewestPrompt { sent, whole, counted, fold, cached, missed, at });
    }

    /// The tokens that a prompt would have with every message, and their prices. `sent` and `part` are what it had.
    fn without_fold(
        &self,
        sent: u64,
        part: TokensByPrice,
        prompt: SpentPrompt,
    ) -> (u64, TokensByPrice) {
        let Some(folded) = prompt.folded else { return (sent, part) };
        let whole = match &self.newest {
            // Between folds a context grows at its end only, so both grow by the same messages.
            Some(before) if before.fold == Some(folded.fold) => {
                (before.whole + sent).saturating_sub(before.sent)
            }
            Some(before) => before.grown_to(prompt.counted, prompt.ratio),
            None => sent + prompt.ratio.of(folded.left_out),
        };
        let behind = (part.plain + part.write).min(whole);
        let read = match &self.newest {
            Some(before) if before.fold == Some(folded.fold) => {
                // A cache that reaches behind the fold would reach as far without it. One that ends in front of it ends
                // there in both.
                let head = share(sent, folded.head, prompt.counted.saturating_sub(folded.left_out));
                let reaches = part.read > before.sent.midpoint(head);
                if reaches { whole - behind } else { part.read.min(whole) }
            }
            Some(before) => {
                let cached = if before.is_cold_at(prompt) { 0 } else { before.cached };
                part.read.max(cached).min(whole)
            }
            // Nothing is known of the request before, so no saving is claimed for the cache.
            None if part.read + part.write > 0 => whole - behind,
            None => 0,
        };
        let new = whole - read;
        let write = if part.write > 0 { new.saturating_sub(part.plain) } else { 0 };
        (whole, TokensByPrice { plain: new - write, read, write })
    }

    /// The tokens at the end of the request before that the cache did not have for this one.
    fn missed(&self, read: u64, prompt: SpentPrompt) -> u64 {
        let Some(before) = &self.newest else { return 0 };
        let goes_on = before.fold == prompt.folded.map(|folded| folded.fold);
        if goes_on && read > 0 { before.sent.saturating_sub(read) } else { before.missed }
    }

    /// The tokens of the client's next request with every message, in the provider's tokens: the newest request, and what
    /// was added since. `None` before the first one was counted.
    #[must_use]
    pub fn whole_at(&self, counted: u64, ratio: Ratio) -> Option<u64> {
        Some(self.newest.as_ref()?.grown_to(counted, ratio))
    }

    /// The prompts as they were sent, by kind of token.
    fn sent(&self) -> TokensByPrice {
        let (read, write) = (self.cache_read, self.cache_write);
        let plain = self.prompt.saturating_sub(read).saturating_sub(write);
        TokensByPrice { plain, read, write }
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
    /// written to it 1.25, any other 1. Without midfold the provider's cache is taken to reach as far behind a fold as
    /// it was seen to reach. Without a fold both sides are equal. `None` without a request.
    ///
    /// ```
    /// use midfold_core::budget::Ratio;
    /// use midfold_core::event::{Hash, Usage};
    /// use midfold_core::spending::{FoldedPrompt, SessionSpending, SpentPrompt};
    /// let mut spent = SessionSpending::default();
    /// let prompt = |counted, folded| SpentPrompt {
    ///     counted, folded, ratio: Ratio::ONE, is_own: false, at: 0, lifetime: None,
    /// };
    /// spent.add(Usage { prompt: 1_000, ..Usage::default() }, Some(prompt(950, None)));
    /// let cost = spent.cost().unwrap();
    /// assert_eq!((cost.sent, cost.everything), (1_000.0, 1_000.0));
    /// let folded = FoldedPrompt { fold: Hash::ROOT, head: 100, left_out: 1_500 };
    /// spent.add(Usage { prompt: 500, ..Usage::default() }, Some(prompt(1_950, Some(folded))));
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

/// The tokens that `part` of `whole` are in a prompt of so many tokens.
fn share(prompt: u64, part: u64, whole: u64) -> u64 {
    let tokens = u128::from(prompt) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

impl NewestPrompt {
    /// Whether the provider's cache has dropped it by the time of a later request.
    fn is_cold_at(&self, prompt: SpentPrompt) -> bool {
        prompt.at.saturating_sub(self.at) > prompt.lifetime.unwrap_or(LIFETIME)
    }

    /// The tokens of the whole when it has `counted` tokens by midfold's own count.
    fn grown_to(&self, counted: u64, ratio: Ratio) -> u64 {
        let more = ratio.of(counted.saturating_sub(self.counted));
        let fewer = ratio.of(self.counted.saturating_sub(counted));
        (self.whole + more).saturating_sub(fewer)
    }
}

impl TokensByPrice {
    fn of(usage: Usage) -> Self {
        let (read, write) = (usage.cache_read, usage.cache_write);
        let plain = usage.prompt.saturating_sub(read).saturating_sub(write);
        Self { plain, read, write }
    }

    fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.read += other.read;
        self.write += other.write;
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn cost(&self) -> f64 {
        let [plain, read, write] = [self.plain, self.read, self.write].map(|tokens| tokens as f64);
        read * READ + write * WRITE + plain * PLAIN
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
