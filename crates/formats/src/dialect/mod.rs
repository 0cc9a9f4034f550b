//! The wire formats, one file each, behind [`DialectKind`].

mod anthropic;
mod bedrock;
pub(crate) mod gemini;
mod loads;
pub(crate) mod ollama;
mod opaque;
mod openai_chat;
mod openai_responses;
mod output;
mod part;
mod results;
pub(crate) mod server_tools;
pub(crate) mod sharegpt;
mod unread;
mod walk;

use midfold_core::Dialect;

pub use anthropic::Anthropic;
pub use bedrock::Bedrock;
pub use gemini::Gemini;
pub use ollama::Ollama;
pub use openai_chat::OpenAiChat;
pub use openai_responses::OpenAiResponses;
pub use sharegpt::ShareGpt;

use opaque::opaque_view;
pub(crate) use output::{CallAnswerer, answerer, is_output};
pub(crate) use unread::is_unread;
pub(crate) use walk::EventWalk;

/// The dialects that midfold reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectKind {
    /// `OpenAI` Chat Completions and what is compatible with it.
    OpenAiChat,
    /// `OpenAI` Responses items.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Bedrock Converse on AWS.
    Bedrock,
    /// Ollama's `/api/chat`.
    Ollama,
    /// `ShareGPT` rows with Hermes' tags.
    ShareGpt,
}

impl DialectKind {
    /// All dialects.
    pub const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Ollama,
        Self::ShareGpt,
    ];

    /// `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock`, `ollama` or `sharegpt`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.dialect().name()
    }

    /// The dialect of this name. `None` for an unknown name.
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

    /// The implementation of the dialect.
    #[must_use]
    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::OpenAiChat => &OpenAiChat,
            Self::OpenAiResponses => &OpenAiResponses,
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
            Self::Bedrock => &Bedrock,
            Self::Ollama => &Ollama,
            Self::ShareGpt => &ShareGpt,
        }
    }

    /// The implementation behind an `Arc`, as a session holds it.
    #[must_use]
    pub fn shared(self) -> std::sync::Arc<dyn Dialect> {
        match self {
            Self::OpenAiChat => std::sync::Arc::new(OpenAiChat),
            Self::OpenAiResponses => std::sync::Arc::new(OpenAiResponses),
            Self::Anthropic => std::sync::Arc::new(Anthropic),
            Self::Gemini => std::sync::Arc::new(Gemini),
            Self::Bedrock => std::sync::Arc::new(Bedrock),
            Self::Ollama => std::sync::Arc::new(Ollama),
            Self::ShareGpt => std::sync::Arc::new(ShareGpt),
        }
    }
}

impl std::fmt::Display for DialectKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
