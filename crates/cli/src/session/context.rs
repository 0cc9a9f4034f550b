//! `midfold session context` and `recover`: the messages to send.

use midfold::core::Hash;
use midfold::formats::overflow::Diagnosis;
use midfold::store::{NumberedContext, StoredSession};
use midfold::view::counts_exactly;
use midfold::{RecoveryOutcome, RefusedRequest};
use midfold_args::{ContextArgs, RecoverArgs};
use serde_json::json;

use super::text::{list, short};
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::input::InputFile;
use crate::output::{OpenedFile, Output, OutputColor};
use crate::runtime;
use crate::words::{about, number, plural};

pub async fn run(
    args: &ContextArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    if !args.inject.is_empty() || !args.reserve.is_empty() {
        return super::inject::run(args, stored, json, output).await;
    }
    let file = output.open(args.output.as_deref())?;
    let fold_before = stored.row().active;
    let numbered = stored.context(!args.no_record, runtime::now()).await?;
    emit(&stored, &numbered, fold_before, file, json, output)
}

/// Writes the messages to the file of `--output` or to standard output, and says how they came about.
fn emit(
    stored: &StoredSession,
    numbered: &NumberedContext,
    fold_before: Option<Hash>,
    file: Option<OpenedFile<'_>>,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let messages = list(&numbered.context);
    let result = if json { object(stored, numbered, &messages) } else { messages };
    let rest = match file {
        Some(file) => file.write(&result).map(|()| None)?,
        None => Some(result),
    };
    if !json {
        let note = note(stored, numbered, fold_before);
        output.stderr(&format!("{}\n", output.stderr_style().paint(OutputColor::Dim, &note)));
    }
    rest.map_or(Ok(()), |result| output.stdout(result))
}

/// The size of the context, its fold and its call, in one line.
fn note(stored: &StoredSession, numbered: &NumberedContext, fold_before: Option<Hash>) -> String {
    let messages = plural(numbered.context.len() as u64, "message");
    let tokens = about(numbered.context.tokens(), counts_exactly(stored));
    let mut note = format!("{messages}, {tokens} tokens");
    if let Some(fold) = numbered.folded {
        let how = if fold_before.is_some() { "folded again" } else { "folded" };
        note += &format!("; {how} now (fold {})", short(fold));
    } else if let Some(fold) = stored.row().active {
        note += &format!("; read through fold {}", short(fold));
    }
    match numbered.call {
        Some(call) => note += &format!("; call {}", number(call)),
        None => note += "; not recorded",
    }
    note
}

fn object(stored: &StoredSession, numbered: &NumberedContext, messages: &[u8]) -> Vec<u8> {
    let about = json!({
        "session": stored.row().new.id,
        "call": numbered.call,
        "fold": stored.row().active,
        "folded": numbered.folded.is_some(),
        "events": stored.row().head,
        "count": numbered.context.len(),
        "tokens": numbered.context.tokens(),
        "counter": stored.row().new.counter,
    });
    super::text::object_with(&about, messages)
}

pub async fn recover(
    args: &RecoverArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    // The body of the provider's answer may be empty, because the status alone can say that a prompt was too long.
    let body = InputFile::load(&args.body)?.bytes;
    let mut stored = host.session(&args.id).await?;
    let file = output.open(args.output.as_deref())?;
    let fold_before = stored.row().active;
    let refused = RefusedRequest { status: args.status, body: &body, reply: 0 };
    let RecoveryOutcome { judged, tokens, retry: numbered } =
        midfold::recover(&mut stored, &refused, runtime::now()).await?;
    let Some(numbered) = numbered else { return Err(judged.no_overflow().into()) };
    if !json {
        output.stderr(&refusal_text(&judged.diagnosis, tokens));
    }
    emit(&stored, &numbered, fold_before, file, json, output)
}

fn refusal_text(diagnosis: &Diagnosis, tokens: u64) -> String {
    let named = |n: Option<u64>| n.map(number);
    match diagnosis {
        Diagnosis::Overflow { have, limit } => match (named(*have), named(*limit)) {
            (Some(have), Some(limit)) => {
                format!("too long: {have} tokens, and {limit} are allowed; compacted\n")
            }
            (Some(have), None) => format!("too long: {have} tokens; compacted\n"),
            (None, Some(limit)) => format!("too long: {limit} tokens are allowed; compacted\n"),
            (None, None) => format!("too long (about {} tokens); compacted\n", number(tokens)),
        },
        Diagnosis::SharedCap { .. } => {
            "the prompt leaves too little room for a reply; compacted\n".to_owned()
        }
        Diagnosis::Pictures(_) => {
            "the request has too many pictures, or too large ones; compacted\n".to_owned()
        }
        Diagnosis::PayloadTooLarge => "the request has too many bytes; compacted\n".to_owned(),
        _ => format!(
            "the provider did not say why; at about {} tokens it is most likely too long; compacted\n",
            number(tokens)
        ),
    }
}
