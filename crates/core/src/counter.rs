//! The seam to token counting. `tokens` implements it; the engine only asks.

use crate::view::MediaRef;

/// What a text is, as far as its place in a message tells. Estimates differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// Text of a user, a system or an assistant message.
    Prose,
    /// Arguments of a tool call.
    Arguments,
    /// Content of a tool result.
    Result,
    /// Reasoning in clear text.
    Reasoning,
    /// JSON that is kept whole: opaque blocks, tool schemas, encrypted reasoning.
    Json,
}

/// Counts tokens. Implementations are deterministic and never panic, whatever the text.
pub trait Counter: Send + Sync {
    /// Name for records and reports: `o200k`, `chars:3.2`, `estimate:openai`.
    fn name(&self) -> &str;

    /// Tokens of one text. Special-token text counts as ordinary text.
    fn count(&self, text: &str, content: TextKind) -> u32;

    /// Tokens of an image, a sound or a file.
    fn media(&self, media: &MediaRef) -> u32;

    /// Tokens that every message costs beside its texts.
    fn per_message(&self) -> u32 {
        4
    }

    /// Whether [`Counter::count`] is the exact count of a real vocabulary.
    fn is_exact(&self) -> bool {
        false
    }
}
