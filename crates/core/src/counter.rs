//! The interface to token counting. The crate `tokens` implements it.

use crate::view::MediaRef;

/// The kind of a text, by its place in a message. Estimates of its tokens depend on it.
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

/// Counts tokens. Implementations are deterministic and never panic, whatever the text is.
pub trait Counter: Send + Sync {
    /// A name for records and reports: `o200k`, `chars:3.2`, `estimate:openai`.
    fn name(&self) -> &str;

    /// Tokens of one text. The text of a special token counts as ordinary text.
    fn count(&self, text: &str, content: TextKind) -> u32;

    /// Tokens of an image, a sound or a file.
    fn media(&self, media: &MediaRef) -> u32;

    /// Tokens that every message costs besides its texts.
    fn per_message(&self) -> u32 {
        4
    }

    /// Whether [`Counter::count`] is the exact count of a real vocabulary.
    fn is_exact(&self) -> bool {
        false
    }
}
