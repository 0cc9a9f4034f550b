//! Transcript readers: they turn the bytes of a request or a session file into conversations.
//!
//! The content of a file decides its format, never its name. Messages are slices of the input. Some formats spread one
//! message over several records, or write it in a shape of their own. The reader then builds it from the recorded
//! tokens, so that the same file always gives the same bytes.

mod chat;
mod claude_code;
mod clients;
mod codex;
mod columns;
mod conversation;
mod description;
mod detect;
mod entries;
mod error;
mod facts;
mod format;
mod holder;
mod outline;
mod pi;
mod pi_message;
mod recognise;
mod registry;
mod request;
mod running;
mod shape;
mod source;
mod swe_agent;
mod text;
mod tree;

use bytes::Bytes;
use midfold_core::BlockKind;
use midfold_core::event::RawEvent;

pub use self::columns::ColumnFact;
use self::columns::{Column, ColumnTable, FailureMark, UsagePlace};
pub use self::conversation::{Conversation, Envelope, MessageWrapper};
use self::description::{FileMark, FormatDescription, FormatReader};
pub use self::error::ReadError;
pub use self::format::TranscriptFormat;
use self::outline::InputDocument;
pub use self::outline::LISTS;
pub use self::running::{NewestReply, newest_reply, rest_of, whole_lines};
use self::shape::{MessageParts, PartRule, PartTable};
use self::source::{InputSource, UnsentCount};
use self::text::TopValue;
use crate::dialect::{DialectKind, is_unread};
use crate::fields::ObjectFields;
use crate::problem::ReadProblem;

/// The result of a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOutcome {
    /// The conversations in the order of the input.
    pub conversations: Vec<Conversation>,
    /// Problems: what was repaired or left out. `at` is a line, from 1.
    pub problems: Vec<ReadProblem>,
}

/// Reads all conversations of `input`, in the format `from`; `None` detects the format.
///
/// A defect in one line or message loses that line or message, and is reported among the problems.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::read::{TranscriptFormat, read};
///
/// let request = br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
/// let found = read(&Bytes::from_static(request), None)?;
/// let conversation = &found.conversations[0];
/// assert_eq!(conversation.format, TranscriptFormat::OpenAiChat);
/// assert_eq!(&conversation.events[0].bytes[..], br#"{"role":"user","content":"hi"}"#);
/// # Ok::<(), midfold_formats::read::ReadError>(())
/// ```
///
/// # Errors
///
/// Returns an error if nothing at all can be read: see [`ReadError`].
pub fn read(input: &Bytes, from: Option<TranscriptFormat>) -> Result<ReadOutcome, ReadError> {
    read_as(input, from, false)
}

/// Reads all that `input` records, to measure it.
///
/// It differs from [`read`] in two ways. For a session that its client compacted, it returns the conversation up to
/// each compaction and then the one after the last. Of the logged requests of one agent, each with all messages of the
/// one before, it returns only the last, also where a few agents take turns.
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
/// The errors of [`read`].
pub fn read_recorded(
    input: &Bytes,
    from: Option<TranscriptFormat>,
) -> Result<ReadOutcome, ReadError> {
    let mut outcome = read_as(input, from, true)?;
    let mut last: Vec<Conversation> = Vec::with_capacity(outcome.conversations.len());
    for conversation in outcome.conversations {
        // Each request holds the one before it of the same agent. The agents of a log may take turns.
        let is_within = |before: &Conversation| before.is_within(&conversation);
        let recent = last.len().saturating_sub(AGENTS);
        if let Some(at) = last[recent..].iter().rposition(is_within) {
            last.remove(recent + at);
        }
        last.push(conversation);
    }
    outcome.conversations = last;
    Ok(outcome)
}

/// At most this many agents may take turns in a log of requests.
const AGENTS: usize = 16;

/// Reads `input`. `recorded` says whether the caller wants the whole recording, with what clients have compacted since.
fn read_as(
    input: &Bytes,
    from: Option<TranscriptFormat>,
    recorded: bool,
) -> Result<ReadOutcome, ReadError> {
    let text = values(input, from)?;
    let doc = InputDocument { bytes: input, outline: text.outline.as_ref() };
    let records = recognise::lines_of_list(doc, &text.records, from).unwrap_or(text.records);
    let mut source = InputSource::new(input, text.dirty, text.problems);
    source.recorded = recorded;
    if from.is_none()
        && let Some(error) = clients::refuse(doc, &records)
    {
        return Err(error);
    }
    let recognised = from.or_else(|| recognise::format(doc, &records));
    let conversations = recognised.map_or_else(Vec::new, |recognised| {
        let about = registry::of(recognised);
        let mut read = match about.reader {
            FormatReader::Session(read) | FormatReader::Runs(read) => read(&mut source, &records),
            FormatReader::Requests => request::read(&mut source, doc, &records, recognised, from),
        };
        if about.is_session() {
            // A session that has just begun, or a context of which nothing is left, is no conversation.
            read.retain(|conversation| !conversation.events.is_empty());
        }
        facts::fill(input, &records, &about.columns, &mut read);
        read
    });
    if conversations.is_empty()
        && let Some(error) = refused(&source.problems)
    {
        return Err(error);
    }
    // A file of a known client without messages is a problem and no error: the session may have just begun.
    let known_but_empty = from.is_none() && recognised.is_some();
    if conversations.is_empty() && !known_but_empty {
        return Err(ReadError::Unrecognised { seen: detect::describe(input, &records) });
    }
    if let Some(error) = no_objects(&conversations) {
        return Err(error);
    }
    if nothing_read(&conversations) {
        return Err(ReadError::Unrecognised { seen: detect::describe(input, &records) });
    }
    let mut problems = source.problems;
    if conversations.is_empty() {
        problems
            .push(ReadProblem::new("no-messages", "the file holds no message of a conversation"));
    }
    problems.sort_by_key(|problem| problem.at);
    Ok(ReadOutcome { conversations, problems })
}

/// The values of the input. An input of a client that writes no JSON is one value.
fn values(input: &[u8], from: Option<TranscriptFormat>) -> Result<text::InputText, ReadError> {
    let is_plain = match from {
        Some(format) => format == TranscriptFormat::Aider,
        None => clients::is_plain(input),
    };
    if is_plain { text::whole(input) } else { text::split(input) }
}

/// The error for a client's file without a conversation, where its reader names the file to pass instead.
fn refused(problems: &[ReadProblem]) -> Option<ReadError> {
    let tells = |problem: &&ReadProblem| matches!(problem.code, "no-answers" | "missing-message");
    let problem = problems.iter().find(tells)?;
    Some(ReadError::Refused { line: problem.at.unwrap_or(1), why: problem.detail.clone() })
}

/// The error for messages without any object. `None` where at least one message is an object.
fn no_objects(conversations: &[Conversation]) -> Option<ReadError> {
    /// The most characters of the first message that are shown.
    const SHOWN: usize = 40;
    let mut events = conversations.iter().flat_map(|conversation| &conversation.events);
    let first = events.clone().next()?;
    if events.any(|event| event.bytes.first() == Some(&b'{')) {
        return None;
    }
    let text = String::from_utf8_lossy(&first.bytes).chars().take(SHOWN).collect::<String>();
    Some(ReadError::NoObjects {
        line: conversations.first()?.line,
        count: conversations.iter().map(|conversation| conversation.events.len()).sum(),
        first: format!("`{text}`"),
    })
}

/// Whether no message was understood although they have content: their client is unknown.
fn nothing_read(conversations: &[Conversation]) -> bool {
    let events = || {
        conversations.iter().flat_map(|conversation| {
            conversation.events.iter().map(|event| (conversation.format, event))
        })
    };
    let is_unread = |format: TranscriptFormat, event: &RawEvent| {
        let is_item = format.dialect() == DialectKind::OpenAiResponses;
        !is_item && is_unread(&ObjectFields::of(&event.bytes, 0..event.bytes.len()))
    };
    events().any(|(format, event)| is_unread(format, event))
        && !events().any(|(format, event)| {
            let view = format.dialect().dialect().view(&event.bytes);
            view.blocks.iter().any(|block| block.kind != BlockKind::Opaque)
        })
}

/// The format of `input`. `None` where it is no JSON or holds no messages.
#[must_use]
pub fn detect(input: &[u8]) -> Option<TranscriptFormat> {
    let text = values(input, None).ok()?;
    let doc = InputDocument { bytes: input, outline: text.outline.as_ref() };
    let records = recognise::lines_of_list(doc, &text.records, None).unwrap_or(text.records);
    recognise::format(doc, &records)
}
