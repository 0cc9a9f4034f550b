//! The policy's settings for a model's narration.

use serde::{Deserialize, Serialize};

use crate::budget::Ratio;

/// How a model narrates. This is data only: the engine decides what to ask, and a driver calls the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NarrationPolicy {
    /// Whether a model is asked at all. Off by default. It costs one call of the narrator for each fold, which reads the
    /// covered messages; no turn waits for it.
    pub on: bool,
    /// The names of the sections that the model is asked for, in order.
    pub sections: Vec<String>,
    /// The form of a section.
    pub style: NarrationStyle,
    /// The value of `strategy` in the record of a narrated fold; the policy's own without it (Summarizing Evicted
    /// Turns).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Whether a narrated fold covers the whole middle. Messages after those that the model was asked about are then in
    /// the computed sections (What Survives the Compression). Otherwise they stay verbatim if the fold reaches its
    /// target that way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole_middle: bool,
    /// The number of words to ask for (Summarizing Evicted Turns: 200); with a `share`, the fewest.
    pub words: Option<u32>,
    /// The number of words to ask for, as a share of the covered tokens: a long span deserves a long narration. 0.04 in
    /// `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Ratio>,
    /// The most words to ask for by `share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_words: Option<u32>,
    /// The hard cap of the reply, in tokens (Summarizing Evicted Turns: 512). Without it, the cap follows from the
    /// words.
    pub max_tokens: Option<u32>,
    /// The cap as a share of the covered tokens, at least `max_tokens` and at most `most_tokens` (Hermes Agent: the
    /// summary's budget scales with the summarised messages).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_share: Option<Ratio>,
    /// The largest cap by `token_share`, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_tokens: Option<u32>,
    /// The sampling temperature (Summarizing Evicted Turns: 0.2).
    pub temperature: Option<Ratio>,
    /// The longest time for an answer, from the request to the last byte, in seconds (Summarizing Evicted Turns: 25).
    /// `default` has 120, since 1,600 words take a small model a minute. Where it is over, the fold is made without a
    /// narration.
    pub timeout_seconds: Option<u32>,
}

impl NarrationPolicy {
    /// Tokens that a word of a narration may take. In 22 replies of a strong model it was 2.5 per word, because paths
    /// and names are long. A cap that is too low cuts off the end of the reply.
    const TOKENS_A_WORD: u32 = 3;
    /// Cap of a reply in tokens where the policy has neither a cap nor words (from "Summarizing Evicted Turns").
    const MAX_TOKENS: u32 = 512;

    /// The words to ask for, for a span of `covered` tokens. At most as many as fit into `room` tokens of the recap,
    /// since the rest would be cut. `None` where the policy asks for no length.
    #[must_use]
    pub fn words_for(&self, covered: u64, room: Option<u64>) -> Option<u32> {
        let Some(share) = self.share else { return self.words };
        let wanted = u32::try_from(share.of(covered)).unwrap_or(u32::MAX);
        let wanted = wanted.min(self.max_words.unwrap_or(u32::MAX)).max(self.words.unwrap_or(0));
        let fitting = room.map(|room| room / u64::from(Self::TOKENS_A_WORD));
        let fitting = fitting.and_then(|words| u32::try_from(words).ok());
        Some(wanted.min(fitting.unwrap_or(u32::MAX)))
    }

    /// The hard cap of the reply in tokens, for a span of `covered` tokens.
    #[must_use]
    pub fn max_tokens_for(&self, covered: u64, room: Option<u64>) -> u32 {
        if let Some(share) = self.token_share {
            let most = u64::from(self.most_tokens.unwrap_or(u32::MAX));
            let cap = share.of(covered).min(most).min(room.unwrap_or(u64::MAX));
            let cap = u32::try_from(cap).unwrap_or(u32::MAX);
            return cap.max(self.max_tokens.unwrap_or(Self::MAX_TOKENS));
        }
        let words = self.words_for(covered, room);
        let cap = words.map(|words| words.saturating_mul(Self::TOKENS_A_WORD));
        self.max_tokens.or(cap).unwrap_or(Self::MAX_TOKENS)
    }
}

/// The form of a narrated section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NarrationStyle {
    /// `- **Decisions:** …` (Summarizing Evicted Turns).
    #[default]
    Bullets,
    /// `## Active Task` (Hermes Agent).
    Headings,
}
