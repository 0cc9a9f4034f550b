//! `midfold session context` and `recover`: the messages to send.

use std::path::Path;

use midfold::core::Hash;
use midfold::core::engine::RecoverError;
use midfold::formats::overflow::{Diagnosis, diagnose};
use midfold::store::{Sent, Stored, StoredError};
use serde_json::json;

use super::{list, short};
use crate::args::{Context, Recover};
use crate::error::CommandError;
use crate::host::{self, Host};
use crate::input::{Input, is_stdin};
use crate::output::{Color, Output};
use crate::words::{about, grouped, number, plural};

pub async fn run(
    args: &Context,
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let before = stored.row().active;
    let now = host::now();
    let sent = match stored.context(!args.no_record, now).await {
        Ok(sent) => sent,
        Err(error) => return Err(host.failed(error).await),
    };
    emit(&stored, &sent, before, args.output.as_deref(), json, output)
}

fn emit(
    stored: &Stored,
    sent: &Sent,
    before: Option<Hash>,
    file: Option<&Path>,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let messages = list(&sent.context);
    let result = if json { object(stored, sent, &messages) } else { messages };
    let tokens = sent.context.tokens();
    let is_exact = counts_exactly(stored);
    let mut note = format!(
        "{}, {} tokens",
        plural(sent.context.len() as u64, "message"),
        about(tokens, is_exact)
    );
    if let Some(fold) = sent.folded {
        let how = if before.is_some() { "folded again" } else { "folded" };
        note += &format!("; {how} now (fold {})", short(fold));
    } else if let Some(fold) = stored.row().active {
        note += &format!("; read through fold {}", short(fold));
    }
    match sent.call {
        Some(call) => note += &format!("; call {}", number(call)),
        None => note += "; not recorded",
    }
    let to_file = file.filter(|path| !is_stdin(path));
    if let Some(path) = to_file {
        output.file(path, &result)?;
    }
    if !json {
        output.stderr(&format!("{}\n", output.stderr_style().paint(Color::Dim, &note)));
    }
    match to_file {
        Some(_) => Ok(()),
        None => output.stdout(result),
    }
}

fn object(stored: &Stored, sent: &Sent, messages: &[u8]) -> Vec<u8> {
    let about = json!({
        "session": stored.row().new.id,
        "call": sent.call,
        "fold": stored.row().active,
        "folded": sent.folded.is_some(),
        "events": stored.row().head,
        "count": sent.context.len(),
        "tokens": sent.context.tokens(),
        "counter": stored.row().new.counter,
    })
    .to_string();
    let head = about.trim_end_matches('}').as_bytes();
    [head, b",\"messages\":", messages.trim_ascii_end(), b"}\n"].concat()
}

/// Whether the session's counter is a vocabulary, not an estimate.
pub fn counts_exactly(stored: &Stored) -> bool {
    midfold::tokens::by_name(&stored.row().new.counter).is_ok_and(|counter| counter.is_exact())
}

/// What the provider answered. An empty body says something, too.
pub fn body(path: &Path) -> Result<Vec<u8>, CommandError> {
    Ok(Input::load(path)?.bytes.to_vec())
}

/// Room for a reply, where the session reserves none: less than this is no answer.
const REPLY: u64 = 1_024;

pub async fn recover(
    args: &Recover,
    body: &[u8],
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let now = host::now();
    let status = match stored.status(now).await {
        Ok(status) => status,
        Err(error) => return Err(host.failed(error).await),
    };
    let found = diagnose(args.status, body, status.context_tokens, status.context_length);
    let reply = stored.meta().budget.output_reserve.max(REPLY);
    let Some(overflow) = found.recovery(reply) else { return Err(no_overflow(&found)) };
    let before = stored.row().active;
    if let Err(error) = stored.recover(overflow, now).await {
        return Err(match error {
            StoredError::Recover(error) => unrecovered(&error),
            other => host.failed(other).await,
        });
    }
    let sent = match stored.context(true, now).await {
        Ok(sent) => sent,
        Err(error) => return Err(host.failed(error).await),
    };
    let sent = Sent { folded: stored.row().active.filter(|fold| Some(*fold) != before), ..sent };
    if !json {
        output.stderr(&told(&found, status.context_tokens));
    }
    emit(&stored, &sent, before, args.output.as_deref(), json, output)
}

fn told(found: &Diagnosis, tokens: u64) -> String {
    let named = |n: Option<u64>| n.map(number);
    match found {
        Diagnosis::Overflow { have, limit } => match (named(*have), named(*limit)) {
            (Some(have), Some(limit)) => {
                format!("too long: {have} tokens, and {limit} are allowed; compacted\n")
            }
            (None, Some(limit)) => format!("too long: {limit} tokens are allowed; compacted\n"),
            _ => format!("too long (about {} tokens); compacted\n", number(tokens)),
        },
        Diagnosis::OutputCap { .. } => {
            "the prompt leaves too little room for a reply; compacted\n".to_owned()
        }
        Diagnosis::PayloadTooLarge => "the request has too many bytes; compacted\n".to_owned(),
        _ => format!(
            "the provider did not say why; at about {} tokens it is most likely too long; compacted\n",
            number(tokens)
        ),
    }
}

fn no_overflow(found: &Diagnosis) -> CommandError {
    let (what, advice) = match found {
        Diagnosis::OutputCap { .. } => ("the room asked for the reply is too large", None),
        Diagnosis::RateLimit => (
            "a limit of requests or tokens in a time, or a busy server",
            Some("wait, then send the same request again"),
        ),
        Diagnosis::TierGate => (
            "long prompts are not part of the plan that pays for it",
            Some("use another model, or a session with a smaller --window"),
        ),
        Diagnosis::Unsupported => {
            ("a parameter that the model does not know", Some("leave that parameter out"))
        }
        Diagnosis::BoundReasoning => (
            "reasoning that belongs to another model or was changed",
            Some("send the messages without their reasoning"),
        ),
        Diagnosis::ContentPolicy => ("the provider refused what the request says", None),
        Diagnosis::Malformed => (
            "the request breaks a rule of the wire format",
            Some("read the provider's message: a smaller context would be refused as well"),
        ),
        _ => (
            "nothing in it says that the request was too long",
            Some("show the provider's error to whoever asked"),
        ),
    };
    let room = found.room_for_reply().map(|room| {
        format!("send it again with at most {} tokens for the reply (max_tokens)", number(room))
    });
    CommandError::failed(format!("this is not an overflow: {what}; nothing was compacted"))
        .maybe_hint(room)
        .maybe_hint(advice.map(str::to_owned))
}

fn unrecovered(error: &RecoverError) -> CommandError {
    let failed = CommandError::failed(grouped(&error.to_string()));
    match error {
        RecoverError::StillTooLong => failed.hint("do not send it a third time: show the provider's error; then unpin messages, or use a model with a larger window"),
        _ => failed.hint("show the provider's error; nothing that may be folded is left"),
    }
}
