//! The wire dialects.

/// The wire formats that midfold reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectKind {
    /// `OpenAI` Chat Completions messages.
    OpenAiChat,
    /// `OpenAI` Responses items.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// `ShareGPT` turns.
    ShareGpt,
}

impl DialectKind {
    /// All dialects.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::ShareGpt];

    /// `openai-chat`, `openai-responses`, `anthropic`, `sharegpt`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::ShareGpt => "sharegpt",
        }
    }

    /// The dialect of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
