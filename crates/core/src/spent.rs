//! What the requests of a session cost, and what they would have cost without a fold.

use serde::{Deserialize, Serialize};

use crate::event::Usage;
use crate::prices::Prices;

/// Tokens of all requests of a session so far, as the provider counted them, beside what all of its
/// messages would have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// Requests whose cost is known.
    pub calls: u64,
    /// Tokens of their prompts, cached ones included.
    pub prompt: u64,
    /// Tokens of the replies.
    pub output: u64,
    /// Tokens of the prompts that came from the cache.
    pub cache_read: u64,
    /// Tokens of the prompts that were written to the cache.
    pub cache_write: u64,
    /// Tokens that the prompts would have had with every message in them.
    pub everything: u64,
    /// Those of the newest one.
    pub everything_last: u64,
}

/// What prompts cost, in tokens at the price of plain input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// What was sent.
    pub sent: f64,
    /// What sending every message would have cost, had it fitted and been cached as well as can be.
    pub everything: f64,
}

impl Spent {
    /// Adds a request: what the provider counted, and the tokens of all messages.
    pub fn add(&mut self, usage: Usage, everything: u64) {
        if usage.prompt == 0 {
            return;
        }
        self.calls += 1;
        self.prompt += usage.prompt;
        self.output += usage.output;
        self.cache_read += usage.cache_read;
        self.cache_write += usage.cache_write;
        // The history without a fold is at least what was sent where nothing was folded.
        self.everything_last = everything.max(self.everything_last);
        self.everything += self.everything_last;
    }

    /// Nothing is known yet.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The share of the prompts that came from the cache; none where nothing is known.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn cache_share(&self) -> Option<f64> {
        (self.prompt > 0).then(|| self.cache_read as f64 / self.prompt as f64)
    }

    /// What the prompts cost, by the reference prices (`docs/MEASURES.md`): reads from the cache at a tenth,
    /// writes to it at 1.25, the rest at 1. Where the provider reported no cache at all, neither side has one;
    /// where it reported no writes, what is new costs 1 on both sides.
    ///
    /// ```
    /// use midfold_core::spent::Spent;
    /// use midfold_core::event::Usage;
    /// let mut spent = Spent::default();
    /// spent.add(Usage { prompt: 1_000, ..Usage::default() }, 1_000);
    /// spent.add(Usage { prompt: 500, ..Usage::default() }, 2_000);
    /// let cost = spent.cost().unwrap();
    /// assert_eq!((cost.sent, cost.everything), (1_500.0, 3_000.0));
    /// ```
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn cost(&self) -> Option<Cost> {
        if self.calls == 0 {
            return None;
        }
        let prices = Prices::reference();
        let fresh = if self.cache_write > 0 { prices.write } else { prices.input };
        let [prompt, read, write, everything, last] =
            [self.prompt, self.cache_read, self.cache_write, self.everything, self.everything_last]
                .map(|tokens| tokens as f64);
        if self.cache_read == 0 && self.cache_write == 0 {
            return Some(Cost {
                sent: prompt * prices.input,
                everything: everything * prices.input,
            });
        }
        let plain = (prompt - read - write).max(0.0);
        Some(Cost {
            sent: read * prices.read + write * prices.write + plain * prices.input,
            // Each prompt extends the one before: all that was new is written once.
            everything: (everything - last) * prices.read + last * fresh,
        })
    }
}
