//! The formats that can be read.

use crate::dialect::DialectKind;

/// The format of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TranscriptFormat {
    /// Chat Completions: a request body, or a list of messages.
    OpenAiChat,
    /// Responses: a request body, or a list of items.
    OpenAiResponses,
    /// Messages: a request body, or a list of messages.
    Anthropic,
    /// Gemini: a request body, or a list of contents.
    Gemini,
    /// Bedrock Converse: a request body, or a list of messages.
    Bedrock,
    /// Ollama's `/api/chat`: a request body, or a list of messages.
    Ollama,
    /// Rows of `conversations` with `from` and `value`.
    ShareGpt,
    /// A session or subagent file of Claude Code.
    ClaudeCode,
    /// A rollout file of Codex.
    Codex,
    /// A session file of pi.
    Pi,
    /// `OpenAI` fine-tuning rows: `messages`, and optionally `tools`.
    FineTuning,
    /// Results of tau-bench: a list of runs with `traj`.
    TauBench,
    /// A `.traj.json` of mini-swe-agent.
    MiniSweAgent,
    /// A `.traj` of SWE-agent.
    SweAgent,
    /// A session file of Qwen Code.
    Qwen,
    /// `api_conversation_history.json` of Cline or Roo Code.
    Cline,
    /// An event log of OpenHands.
    OpenHands,
    /// A session of Goose, or an export of one.
    Goose,
    /// Sessions that Hermes Agent exported, or its session file.
    Hermes,
    /// `conversations.json` of a ChatGPT data export.
    ChatGpt,
    /// An agent file of Letta.
    Letta,
    /// A log of Inspect AI as JSON.
    Inspect,
    /// `.aider.chat.history.md` of aider.
    Aider,
    /// A session of OpenCode: an export, or the files of its storage.
    OpenCode,
    /// A session of Gemini CLI.
    GeminiCli,
    /// An agent transcript of Cursor, or the stream of its command line.
    Cursor,
    /// A session of Factory Droid.
    Droid,
    /// A session of Copilot CLI.
    Copilot,
    /// A session of Kimi CLI.
    Kimi,
    /// The wire of an agent of Kimi Code.
    KimiCode,
    /// A chat of GitHub Copilot in VS Code, or an export of one.
    CopilotChat,
    /// A session of Continue.
    Continue,
    /// Spans of OpenTelemetry with the messages of a model.
    Otel,
    /// Observations that Langfuse exported.
    Langfuse,
}

/// The format of a list of a dialect's messages, as `compact` writes it.
impl From<DialectKind> for TranscriptFormat {
    fn from(kind: DialectKind) -> Self {
        match kind {
            DialectKind::OpenAiChat => Self::OpenAiChat,
            DialectKind::OpenAiResponses => Self::OpenAiResponses,
            DialectKind::Anthropic => Self::Anthropic,
            DialectKind::Gemini => Self::Gemini,
            DialectKind::Bedrock => Self::Bedrock,
            DialectKind::Ollama => Self::Ollama,
            DialectKind::ShareGpt => Self::ShareGpt,
        }
    }
}

impl TranscriptFormat {
    /// All formats.
    pub const ALL: [Self; 34] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Ollama,
        Self::ShareGpt,
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::FineTuning,
        Self::TauBench,
        Self::MiniSweAgent,
        Self::SweAgent,
        Self::Qwen,
        Self::Cline,
        Self::OpenHands,
        Self::Goose,
        Self::Hermes,
        Self::ChatGpt,
        Self::Letta,
        Self::Inspect,
        Self::Aider,
        Self::OpenCode,
        Self::GeminiCli,
        Self::Cursor,
        Self::Droid,
        Self::Copilot,
        Self::Kimi,
        Self::KimiCode,
        Self::CopilotChat,
        Self::Continue,
        Self::Otel,
        Self::Langfuse,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Ollama => "ollama",
            Self::ShareGpt => "sharegpt",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::FineTuning => "fine-tuning",
            Self::TauBench => "tau-bench",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::SweAgent => "swe-agent",
            Self::Qwen => "qwen-code",
            Self::Cline => "cline",
            Self::OpenHands => "openhands",
            Self::Goose => "goose",
            Self::Hermes => "hermes",
            Self::ChatGpt => "chatgpt",
            Self::Letta => "letta",
            Self::Inspect => "inspect",
            Self::Aider => "aider",
            Self::OpenCode => "opencode",
            Self::GeminiCli => "gemini-cli",
            Self::Cursor => "cursor",
            Self::Droid => "droid",
            Self::Copilot => "copilot-cli",
            Self::Kimi => "kimi-cli",
            Self::KimiCode => "kimi-code",
            Self::CopilotChat => "copilot-chat",
            Self::Continue => "continue",
            Self::Otel => "otel",
            Self::Langfuse => "langfuse",
        }
    }

    /// The format of this name. `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether it is the format of a provider's requests or training data, and not that of a client's file. Messages
    /// may have a body around them.
    #[must_use]
    pub fn is_wire(self) -> bool {
        self == Self::FineTuning || self == Self::from(self.dialect())
    }

    /// The dialect of the messages that its reader returns.
    #[must_use]
    pub fn dialect(self) -> DialectKind {
        match self {
            Self::OpenAiResponses | Self::Codex => DialectKind::OpenAiResponses,
            Self::Anthropic | Self::ClaudeCode | Self::Droid | Self::Cline => {
                DialectKind::Anthropic
            }
            Self::Gemini | Self::Qwen | Self::GeminiCli => DialectKind::Gemini,
            Self::Bedrock => DialectKind::Bedrock,
            Self::Ollama => DialectKind::Ollama,
            Self::ShareGpt => DialectKind::ShareGpt,
            _ => DialectKind::OpenAiChat,
        }
    }
}
