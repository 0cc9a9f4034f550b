//! Transcript readers: from the bytes of a request or a session file to conversations.
//!
//! What a file is, is told by its content, never by its name. Messages leave as slices of the
//! input; where a format spreads one message over several records, or writes it in a shape of its
//! own, the reader builds it once, from the recorded tokens, so that the same file gives the same
//! bytes for ever.

mod claude_code;
mod codex;
mod detect;
mod error;
mod fields;
mod outline;
mod pi;
mod pi_message;
mod request;
mod source;
mod swe_agent;
mod text;
mod usage;

use bytes::Bytes;
use midfold_core::event::RawEvent;

pub use self::error::ReadError;
use self::outline::Doc;
use self::source::Source;
use crate::dialect::DialectKind;
use crate::problem::Problem;

/// What a transcript is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Chat Completions: a request body, or a list of messages.
    OpenAiChat,
    /// Responses: a request body, or a list of items.
    OpenAiResponses,
    /// Messages: a request body, or a list of messages.
    Anthropic,
    /// Rows of `conversations` with `from` and `value`.
    ShareGpt,
    /// A session or subagent file of Claude Code.
    ClaudeCode,
    /// A rollout file of Codex.
    Codex,
    /// A session file of pi.
    Pi,
    /// `OpenAI` fine-tuning rows: `messages`, perhaps `tools`.
    FineTuning,
    /// Results of tau-bench: a list of runs with `traj`.
    TauBench,
    /// A `.traj.json` of mini-swe-agent.
    MiniSweAgent,
    /// A `.traj` of SWE-agent.
    SweAgent,
}

/// A list of a dialect's messages, as `compact` writes it.
impl From<DialectKind> for Format {
    fn from(kind: DialectKind) -> Self {
        match kind {
            DialectKind::OpenAiChat => Self::OpenAiChat,
            DialectKind::OpenAiResponses => Self::OpenAiResponses,
            DialectKind::Anthropic => Self::Anthropic,
            DialectKind::ShareGpt => Self::ShareGpt,
        }
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 11] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::ShareGpt,
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::FineTuning,
        Self::TauBench,
        Self::MiniSweAgent,
        Self::SweAgent,
    ];

    /// The name, as the command line writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::ShareGpt => "sharegpt",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::FineTuning => "fine-tuning",
            Self::TauBench => "tau-bench",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::SweAgent => "swe-agent",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The dialect of the messages that its reader gives.
    #[must_use]
    pub fn dialect(self) -> DialectKind {
        match self {
            Self::OpenAiResponses | Self::Codex => DialectKind::OpenAiResponses,
            Self::Anthropic | Self::ClaudeCode => DialectKind::Anthropic,
            Self::ShareGpt => DialectKind::ShareGpt,
            _ => DialectKind::OpenAiChat,
        }
    }
}

/// What travels beside the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The JSON value of a top-level `system` or `instructions`.
    pub system: Option<Bytes>,
    /// The JSON value of `tools`.
    pub tools: Option<Bytes>,
    /// The model, where it is named; the last one where it changed.
    pub model: Option<String>,
    /// What surrounds the messages, where they stand in one array.
    pub wrapper: Option<Wrapper>,
}

/// The object (or the bare list) that held the messages: `before`, then `[`, the messages joined
/// by commas and `]`, then `after`, is the input value with every other byte untouched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrapper {
    /// What stands before the list's bracket; empty for a bare list.
    pub before: Bytes,
    /// What stands after the list's bracket; empty for a bare list.
    pub after: Bytes,
}

/// One conversation of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The id that the input gives it: session, task, row.
    pub id: Option<String>,
    /// What it was written in.
    pub format: Format,
    /// Its messages, oldest first: what the model would be sent next, without what the client
    /// compacted or took back (a [`Problem`] tells of that).
    pub events: Vec<RawEvent>,
    /// What travels beside them.
    pub envelope: Envelope,
    /// The line where it starts, from 1.
    pub line: usize,
}

impl Conversation {
    fn new(format: Format, line: usize) -> Self {
        Self { id: None, format, events: Vec::new(), envelope: Envelope::default(), line }
    }

    /// The same without its messages.
    fn beside(&self) -> Self {
        let Self { id, format, envelope, line, .. } = self;
        let (id, envelope) = (id.clone(), envelope.clone());
        Self { id, format: *format, events: Vec::new(), envelope, line: *line }
    }

    /// Whether `later` begins with all messages of this one.
    fn is_within(&self, later: &Self) -> bool {
        let same = |(a, b): (&RawEvent, &RawEvent)| a.bytes == b.bytes;
        self.events.len() <= later.events.len() && self.events.iter().zip(&later.events).all(same)
    }
}

/// What a reader found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOutcome {
    /// The conversations in the order of the input.
    pub conversations: Vec<Conversation>,
    /// What was repaired or left out; `at` is a line, from 1.
    pub problems: Vec<Problem>,
}

/// Reads all conversations of `input`, as `from` or as what it looks like.
///
/// A defect in one line or message costs that line or message and is reported among the problems.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::read::{Format, read};
///
/// let request = br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
/// let found = read(&Bytes::from_static(request), None)?;
/// let conversation = &found.conversations[0];
/// assert_eq!(conversation.format, Format::OpenAiChat);
/// assert_eq!(&conversation.events[0].bytes[..], br#"{"role":"user","content":"hi"}"#);
/// # Ok::<(), midfold_formats::read::ReadError>(())
/// ```
///
/// # Errors
///
/// When nothing at all can be read: see [`ReadError`].
pub fn read(input: &Bytes, from: Option<Format>) -> Result<ReadOutcome, ReadError> {
    read_as(input, from, false)
}

/// Reads all that `input` records, for whoever measures it.
///
/// As [`read`], but for two things. A session that its client compacted gives a conversation for
/// what was sent up to each compaction, and one for what came after, in this order. And of requests
/// that were logged one after the other, each with all messages of the one before, only the last
/// is a conversation.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::read::{read, read_recorded};
///
/// let log = Bytes::from_static(
///     br#"{"messages":[{"role":"user","content":"hi"}]}
/// {"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"}]}"#,
/// );
/// assert_eq!(read(&log, None)?.conversations.len(), 2);
/// let recorded = read_recorded(&log, None)?.conversations;
/// assert_eq!(recorded.len(), 1);
/// assert_eq!(recorded[0].events.len(), 2);
/// # Ok::<(), midfold_formats::read::ReadError>(())
/// ```
///
/// # Errors
///
/// As [`read`].
pub fn read_recorded(input: &Bytes, from: Option<Format>) -> Result<ReadOutcome, ReadError> {
    let mut found = read_as(input, from, true)?;
    let mut last: Vec<Conversation> = Vec::with_capacity(found.conversations.len());
    for conversation in found.conversations {
        if last.last().is_some_and(|before| before.is_within(&conversation)) {
            last.pop();
        }
        last.push(conversation);
    }
    found.conversations = last;
    Ok(found)
}

fn read_as(input: &Bytes, from: Option<Format>, recorded: bool) -> Result<ReadOutcome, ReadError> {
    let text = text::split(input)?;
    let (records, outline) = (text.records, text.outline);
    let doc = Doc { bytes: input, outline: outline.as_ref() };
    let mut source = Source::new(input, text.dirty, text.problems);
    source.recorded = recorded;
    let found = from.or_else(|| detect::format(doc, &records));
    let conversations = match found {
        Some(Format::ClaudeCode) => claude_code::read(&mut source, &records),
        Some(Format::Codex) => codex::read(&mut source, &records),
        Some(Format::Pi) => pi::read(&mut source, &records),
        Some(Format::SweAgent) => swe_agent::read(&mut source, &records),
        Some(found) => request::read(&mut source, doc, &records, found, from),
        None => Vec::new(),
    };
    let known_but_empty = from.is_none() && found.is_some();
    if conversations.is_empty() && !known_but_empty {
        return Err(ReadError::Unrecognised { seen: detect::describe(input, &records) });
    }
    let mut problems = source.problems;
    if conversations.is_empty() {
        problems.push(Problem::new("no-messages", "the file holds no message of a conversation"));
    }
    problems.sort_by_key(|problem| problem.at);
    Ok(ReadOutcome { conversations, problems })
}

/// What `input` is written in; `None` when it is no JSON or holds no messages.
#[must_use]
pub fn detect(input: &[u8]) -> Option<Format> {
    let text = text::split(input).ok()?;
    let doc = Doc { bytes: input, outline: text.outline.as_ref() };
    detect::format(doc, &text.records)
}
