//! The text that a person reads after a manual compaction, with the keys of Hermes Agent's
//! `summarize_manual_compression`.

use midfold_core::reduce::thousands;
use serde::Serialize;

/// A compaction in words, with the keys of Hermes Agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactionFeedback {
    /// The context did not change.
    pub noop: bool,
    /// `Compressed: 40 → 12 messages`.
    pub headline: String,
    /// `Rough transcript estimate: ~90,000 → ~30,000 tokens`.
    pub token_line: String,
    /// Why fewer messages take more tokens; `None` if they do not.
    pub note: Option<String>,
}

/// The size of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSize {
    /// The number of messages.
    pub messages: u64,
    /// The number of tokens.
    pub tokens: u64,
}

impl CompactionFeedback {
    /// Describes a context that was `before` and is `after`; `same` says that it did not change.
    ///
    /// ```
    /// use midfold::{CompactionFeedback, ContextSize};
    /// let said = CompactionFeedback::new(
    ///     ContextSize { messages: 40, tokens: 9_000 },
    ///     ContextSize { messages: 12, tokens: 9_500 },
    ///     false,
    /// );
    /// assert_eq!(said.headline, "Compressed: 40 → 12 messages");
    /// assert_eq!(said.token_line, "Rough transcript estimate: ~9,000 → ~9,500 tokens");
    /// assert!(said.note.is_some());
    /// ```
    #[must_use]
    pub fn new(before: ContextSize, after: ContextSize, same: bool) -> Self {
        let [first, second] = [before.tokens, after.tokens].map(tokens);
        let headline = if same {
            format!("No changes from compression: {} messages", before.messages)
        } else {
            format!("Compressed: {} → {} messages", before.messages, after.messages)
        };
        let token_line = if same && before.tokens == after.tokens {
            format!("Rough transcript estimate: ~{first} tokens (unchanged)")
        } else {
            format!("Rough transcript estimate: ~{first} → ~{second} tokens")
        };
        let denser = !same && after.messages < before.messages && after.tokens > before.tokens;
        let note = denser.then(|| {
            "Note: fewer messages can still raise this rough transcript estimate when compression \
             rewrites the transcript into denser summaries."
                .to_owned()
        });
        Self { noop: same, headline, token_line, note }
    }
}

/// A number of tokens as a person reads it: `12,345`.
pub(crate) fn tokens(tokens: u64) -> String {
    thousands(usize::try_from(tokens).unwrap_or(usize::MAX))
}
