//! The settings that say when to fold; [`crate::trigger`] applies them.

use serde::{Deserialize, Serialize};

use crate::budget::Ratio;

/// When to fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriggerPolicy {
    /// Whether the session folds by itself. If off, it does not even at the window; a person still can compact it.
    #[serde(default = "yes")]
    pub on: bool,
    /// Folding starts at this share of the budget … `default` has 0.78, `lean` 0.48. A lower share makes each request
    /// cheaper and folds earlier; a higher one leaves less room for a long step.
    pub threshold: Ratio,
    /// … or at this many tokens, if that is less (0, the default: no such rule) … It holds cost down in a very large
    /// window.
    #[serde(default)]
    pub tokens: u64,
    /// … or where fewer than this many tokens of the budget are left (0, the default: no such rule). Set it to the longest
    /// step that is expected.
    #[serde(default)]
    pub reserve: u64,
    /// Prompt sizes in tokens above which a model charges more for the whole prompt. Folding starts 5 % below the
    /// lowest. Without one, by default, price plays no part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cliffs: Vec<u64>,
    /// Other rules for single models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelTrigger>,
    /// The share of the budget from which a model is asked to narrate, so that the narration is ready when the trigger
    /// fires. It is below `threshold`; 0.60 if left out. A lower share asks earlier, so more newer messages are left to
    /// midfold alone. Without a narrator it only decides where a cold cache or an agent's request may fold. If another
    /// rule sets the line, the buffer keeps its proportion to it ([`TriggerPolicy::buffer_tokens`]).
    #[serde(default = "buffer")]
    pub buffer: Ratio,
    /// The share of the budget from which the session folds at a seam, where some work has just ended: a user's turn,
    /// an item of the to-do list, a commit, a check that passed. 0, the default, or not below `threshold`: seams do not matter. If
    /// another rule sets the line, the share keeps its proportion to it.
    #[serde(default, skip_serializing_if = "Ratio::is_zero")]
    pub seam: Ratio,
    /// The threshold is at least this many tokens (Hermes Agent: 64,000; 0 by default) …
    #[serde(default)]
    pub floor_tokens: u64,
    /// … and if that reaches the window, it is this share of the window instead (Hermes Agent: `min(0.85 × window,
    /// window − 1)`).
    #[serde(default)]
    pub floored_share: Option<Ratio>,
    /// The share that is added to every estimate before it is compared with a limit (projection note: 10 %; 0 by default,
    /// as the meter learns from the provider's counts).
    #[serde(default)]
    pub margin: Ratio,
    /// Tokens that are kept free for texts that hooks inject (projection note: 2,000; 0 by default). Set it where hooks add
    /// texts, or a request may exceed the window by them.
    #[serde(default)]
    pub injection_reserve: u64,
    /// Conversations of at most this many messages are never folded (Hermes Agent: 7; 0 by default).
    #[serde(default)]
    pub min_messages: usize,
}

fn yes() -> bool {
    true
}

/// The default buffer: three quarters of a threshold of 0.80. "Summarizing Evicted Turns" asks for its summary in the
/// background at that size, before the threshold is reached.
fn buffer() -> Ratio {
    Ratio(6_000)
}

/// The share of the line at which a model is asked, for a trigger whose buffer is not below its threshold.
const BUFFER: Ratio = Ratio(7_500);

/// Trigger rules for models whose name contains `name`. If several entries match, the longest `name` wins. A rule that
/// is left out stays as in the policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelTrigger {
    /// A part of the model's name, in any case.
    pub name: String,
    /// The share of the budget at which folding starts.
    pub threshold: Option<Ratio>,
    /// The number of tokens at which folding starts.
    pub tokens: Option<u64>,
    /// The tokens of the budget that have to stay free.
    pub reserve: Option<u64>,
    /// Prompt sizes in tokens above which the model charges more.
    pub cliffs: Option<Vec<u64>>,
}

impl TriggerPolicy {
    /// The buffer of a policy that names a threshold and no buffer.
    #[must_use]
    pub(super) fn buffer_below(threshold: Ratio) -> Ratio {
        Ratio(u32::try_from(BUFFER.of(threshold.0.into())).unwrap_or(threshold.0))
    }

    /// The number of tokens from which on a model is asked to narrate, for a budget of `tokens`. It is always below the
    /// line, whichever rule sets that. A buffer that is not below the threshold (because of a model's own threshold, or
    /// in a policy of an earlier version) becomes three quarters of the line.
    #[must_use]
    pub fn buffer_tokens(&self, tokens: u64) -> u64 {
        if self.buffer >= self.threshold {
            return BUFFER.of(self.line(tokens).tokens);
        }
        self.below_line(self.buffer, tokens)
    }

    /// The number of tokens from which on a fold is made at a seam, for a budget of `tokens`; `None` where the policy
    /// does not wait for seams.
    #[must_use]
    pub fn seam_tokens(&self, tokens: u64) -> Option<u64> {
        let is_set = !self.seam.is_zero() && self.seam < self.threshold;
        is_set.then(|| self.below_line(self.seam, tokens))
    }

    /// The number of tokens from which on a fold is made because the agent asks for it, for a budget of `tokens`: the
    /// lower of the buffer and the seam line. A fold of a smaller context would cost more of the provider's cache than
    /// it frees.
    #[must_use]
    pub fn asked_tokens(&self, tokens: u64) -> u64 {
        let buffer = self.buffer_tokens(tokens);
        self.seam_tokens(tokens).map_or(buffer, |seam| seam.min(buffer))
    }

    /// Converts a share below the threshold to tokens, in the same proportion to the line as the share has to the
    /// threshold.
    fn below_line(&self, share: Ratio, tokens: u64) -> u64 {
        let line = self.line(tokens).tokens;
        let tokens = u128::from(line) * u128::from(share.0) / u128::from(self.threshold.0.max(1));
        u64::try_from(tokens).unwrap_or(line)
    }

    /// The threshold in tokens for a budget of `tokens`.
    ///
    /// Hermes Agent: `max(0.50 × window, 64,000)`, and where the floor reaches the window
    /// `min(0.85 × window, window − 1)`.
    #[must_use]
    pub fn threshold_tokens(&self, tokens: u64) -> u64 {
        let wanted = self.threshold.of(tokens).max(self.floor_tokens);
        match self.floored_share {
            Some(share) if wanted >= tokens => share.of(tokens).min(tokens.saturating_sub(1)),
            _ => wanted.min(tokens),
        }
    }
}
