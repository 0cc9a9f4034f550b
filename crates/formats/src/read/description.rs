//! The description of a format: how its files are recognised and read, and where they hold each fact.

use super::columns::{ColumnFact, ColumnTable};
use super::outline::InputDocument;
use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, TranscriptFormat, claude_code, clients, codex, pi, request, swe_agent};

/// Reads the records of a file into conversations.
type FileReader = fn(&mut InputSource<'_>, &[TopValue]) -> Vec<Conversation>;

/// The way in which the values of a format are read.
pub(super) enum FormatReader {
    /// The file of a client: its records belong together.
    Session(FileReader),
    /// Each value is a run of its own.
    Runs(FileReader),
    /// Requests, or lists of messages in the shape in which they are sent.
    Requests,
}

/// How the files of one format are read.
pub(super) struct FormatDescription {
    pub format: TranscriptFormat,
    /// Whether an input is of this client. `None` where the shape of the values decides.
    pub is_of: Option<fn(InputDocument<'_>, &[TopValue]) -> bool>,
    pub reader: FormatReader,
    pub columns: ColumnTable,
}

impl FormatDescription {
    /// The description of a client whose files are recognised before all other formats.
    pub(super) const fn client(
        format: TranscriptFormat,
        is_of: fn(InputDocument<'_>, &[TopValue]) -> bool,
        read: FileReader,
        columns: ColumnTable,
    ) -> Self {
        Self { format, is_of: Some(is_of), reader: FormatReader::Session(read), columns }
    }

    /// Whether the files are sessions of a client, and not requests.
    pub(super) fn is_session(&self) -> bool {
        matches!(self.reader, FormatReader::Session(_))
    }
}

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
    }
}

impl TranscriptFormat {
    /// Where the files of this format hold each fact that a file of an agent may hold, or why they do not: the name of
    /// the fact, and its place as members with dots between them.
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
