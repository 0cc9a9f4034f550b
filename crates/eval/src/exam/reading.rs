//! Reads conversations as logs, with the counter of all measures: characters / 3.2, rounded up, and 4 tokens per
//! message.

use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::profile;
use midfold::formats::read::{self as transcripts, Conversation};
use midfold::tokens::{MemoCounter, by_name};
use midfold::{Counter, EventLog};

use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};

/// The counter of tokens (docs/MEASURES.md).
pub const TOKENIZER: &str = "chars:3.2";

/// The counter of the measures.
///
/// # Errors
/// This build has no such counter.
pub fn counter() -> ExamResult<Arc<dyn Counter>> {
    let counter = by_name(TOKENIZER).at(TOKENIZER)?;
    Ok(MemoCounter::around(counter))
}

/// Reads the last conversation of a transcript.
///
/// # Errors
/// The transcript holds no conversation.
pub fn conversation(input: &Bytes) -> ExamResult<Conversation> {
    let mut outcome = transcripts::read(input, None).at("not a transcript")?;
    outcome.conversations.pop().ok_or_else(|| ExamError("no conversation".to_owned()))
}

/// Reads a conversation into a log.
///
/// # Errors
/// The errors of [`conversation`].
pub fn read(input: &Bytes) -> ExamResult<EventLog> {
    let conversation = conversation(input)?;
    let kind = conversation.format.dialect();
    let rules = profile::for_dialect(kind)[0];
    let mut log = EventLog::of(kind.shared(), rules, counter()?, conversation.events);
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    Ok(log)
}
