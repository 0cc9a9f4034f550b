//! The wire formats, one file each, behind [`DialectKind`].
//!
//! Gemini and Bedrock join as two more variants and two more files.

mod anthropic;
mod openai_chat;
mod openai_responses;
mod part;
pub(crate) mod sharegpt;
mod walk;

use midfold_core::{Block, ByteRange, Dialect, Origin, Role, View};

pub use anthropic::Anthropic;
pub use openai_chat::OpenAiChat;
pub use openai_responses::OpenAiResponses;
pub use sharegpt::ShareGpt;

pub(crate) use walk::{Walk, inside};

/// The dialects that we speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectKind {
    /// `OpenAI` Chat Completions and what is compatible with it.
    OpenAiChat,
    /// `OpenAI` Responses items.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// `ShareGPT` rows with Hermes' tags.
    ShareGpt,
}

impl DialectKind {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::ShareGpt];

    /// `openai-chat`, `openai-responses`, `anthropic` or `sharegpt`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.dialect().name()
    }

    /// The dialect of this name.
    ///
    /// ```
    /// use midfold_formats::dialect::DialectKind;
    /// assert_eq!(DialectKind::from_name("anthropic"), Some(DialectKind::Anthropic));
    /// assert_eq!(DialectKind::from_name("smoke-signals"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The implementation.
    #[must_use]
    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::OpenAiChat => &OpenAiChat,
            Self::OpenAiResponses => &OpenAiResponses,
            Self::Anthropic => &Anthropic,
            Self::ShareGpt => &ShareGpt,
        }
    }

    /// Its implementation, as a session holds it.
    #[must_use]
    pub fn shared(self) -> std::sync::Arc<dyn Dialect> {
        match self {
            Self::OpenAiChat => std::sync::Arc::new(OpenAiChat),
            Self::OpenAiResponses => std::sync::Arc::new(OpenAiResponses),
            Self::Anthropic => std::sync::Arc::new(Anthropic),
            Self::ShareGpt => std::sync::Arc::new(ShareGpt),
        }
    }
}

impl std::fmt::Display for DialectKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Bytes that are no message at all: one opaque block.
fn opaque_view(bytes: &[u8]) -> View {
    let whole = ByteRange::new(0, bytes.len());
    View { role: Role::Other, origin: Origin::Genuine, blocks: vec![Block::opaque(whole)] }
}
