//! Conversations as logs, counted as all measures count: characters / 3.2, rounded up, and 4 a message.

use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::profile;
use midfold::formats::read::{self as transcripts, Conversation};
use midfold::tokens::{Memo, by_name};
use midfold::{Counter, Log};

use crate::error::{At as _, Error, Result};

/// How tokens are counted (docs/MEASURES.md).
pub const TOKENIZER: &str = "chars:3.2";

/// The counter of the measures.
///
/// # Errors
/// When this build has none.
pub fn counter() -> Result<Arc<dyn Counter>> {
    let counter = by_name(TOKENIZER).at(TOKENIZER)?;
    Ok(Memo::around(counter))
}

/// Reads the last conversation of a transcript.
///
/// # Errors
/// When there is none in it.
pub fn conversation(input: &Bytes) -> Result<Conversation> {
    let mut found = transcripts::read(input, None).at("not a transcript")?;
    found.conversations.pop().ok_or_else(|| Error("no conversation".to_owned()))
}

/// Reads a conversation into a log.
///
/// # Errors
/// As [`conversation`].
pub fn read(input: &Bytes) -> Result<Log> {
    let conversation = conversation(input)?;
    let kind = conversation.format.dialect();
    let rules = profile::for_dialect(kind)[0];
    let mut log = Log::of(kind.shared(), rules, counter()?, conversation.events);
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    Ok(log)
}
