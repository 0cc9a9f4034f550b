//! The descriptions of all formats.

use super::columns::ColumnFact;
use super::description::FormatDescription;
use super::{TranscriptFormat, claude_code, clients, codex, pi, request, swe_agent};

/// The description of a format. A new format does not compile without one.
pub(super) fn of(format: TranscriptFormat) -> &'static FormatDescription {
    match format {
        TranscriptFormat::OpenAiChat
        | TranscriptFormat::OpenAiResponses
        | TranscriptFormat::Anthropic
        | TranscriptFormat::Gemini
        | TranscriptFormat::Bedrock
        | TranscriptFormat::Ollama
        | TranscriptFormat::ShareGpt
        | TranscriptFormat::FineTuning
        | TranscriptFormat::TauBench => &request::REQUESTS,
        TranscriptFormat::MiniSweAgent => &request::MINI_SWE_AGENT,
        TranscriptFormat::ClaudeCode => &claude_code::FORMAT,
        TranscriptFormat::Codex => &codex::FORMAT,
        TranscriptFormat::Pi => &pi::FORMAT,
        TranscriptFormat::SweAgent => &swe_agent::FORMAT,
        TranscriptFormat::Qwen => &clients::qwen::FORMAT,
        TranscriptFormat::Cline => &clients::cline::FORMAT,
        TranscriptFormat::OpenHands => &clients::openhands::FORMAT,
        TranscriptFormat::Goose => &clients::goose::FORMAT,
        TranscriptFormat::Hermes => &clients::hermes::FORMAT,
        TranscriptFormat::ChatGpt => &clients::chatgpt::FORMAT,
        TranscriptFormat::Letta => &clients::letta::FORMAT,
        TranscriptFormat::Inspect => &clients::inspect::FORMAT,
        TranscriptFormat::Aider => &clients::aider::FORMAT,
        TranscriptFormat::OpenCode => &clients::opencode::FORMAT,
        TranscriptFormat::GeminiCli => &clients::gemini_cli::FORMAT,
        TranscriptFormat::Cursor => &clients::cursor::FORMAT,
        TranscriptFormat::Droid => &clients::droid::FORMAT,
        TranscriptFormat::Copilot => &clients::copilot::FORMAT,
        TranscriptFormat::Kimi => &clients::kimi::FORMAT,
        TranscriptFormat::KimiCode => &clients::kimi_code::FORMAT,
        TranscriptFormat::CopilotChat => &clients::copilot_chat::FORMAT,
        TranscriptFormat::Continue => &clients::continue_dev::FORMAT,
        TranscriptFormat::Otel => &clients::otel::FORMAT,
        TranscriptFormat::Langfuse => &clients::langfuse::FORMAT,
    }
}

impl TranscriptFormat {
    /// Whether its files are sessions of a client, which may grow, and not requests or runs.
    #[must_use]
    pub fn is_session(self) -> bool {
        of(self).is_session()
    }

    /// Where the files of this format hold each fact of an agent's work, or why they do not. Each fact has its name, and
    /// a place is members with dots between them.
    ///
    /// ```
    /// use midfold_formats::read::{ColumnFact, TranscriptFormat};
    ///
    /// let facts = TranscriptFormat::Pi.columns();
    /// let (_, error) = facts.iter().find(|(name, _)| *name == "error").unwrap();
    /// assert_eq!(*error, ColumnFact::At("`isError: true`".to_owned()));
    /// ```
    #[must_use]
    pub fn columns(self) -> [(&'static str, ColumnFact); 10] {
        of(self).columns.facts()
    }
}
