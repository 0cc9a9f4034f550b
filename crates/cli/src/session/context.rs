//! `midfold session context` and `recover`: the messages to send.

use std::path::Path;

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
use crate::output::{Output, OutputColor};
use crate::paths::is_stdin;
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
    let before = stored.row().active;
    let now = runtime::now();
    let numbered = stored.context(!args.no_record, now).await?;
    emit(&stored, &numbered, before, args.output.as_deref(), json, output)
}

fn emit(
    stored: &StoredSession,
    numbered: &NumberedContext,
    before: Option<Hash>,
    file: Option<&Path>,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let messages = list(&numbered.context);
    let result = if json { object(stored, numbered, &messages) } else { messages };
    let tokens = numbered.context.tokens();
    let is_exact = counts_exactly(stored);
    let mut note = format!(
        "{}, {} tokens",
        plural(numbered.context.len() as u64, "message"),
        about(tokens, is_exact)
    );
    if let Some(fold) = numbered.folded {
        let how = if before.is_some() { "folded again" } else { "folded" };
        note += &format!("; {how} now (fold {})", short(fold));
    } else if let Some(fold) = stored.row().active {
        note += &format!("; read through fold {}", short(fold));
    }
    match numbered.call {
        Some(call) => note += &format!("; call {}", number(call)),
        None => note += "; not recorded",
    }
    let to_file = file.filter(|path| !is_stdin(path));
    if let Some(path) = to_file {
        output.file(path, &result)?;
    }
    if !json {
        output.stderr(&format!("{}\n", output.stderr_style().paint(OutputColor::Dim, &note)));
    }
    match to_file {
        Some(_) => Ok(()),
        None => output.stdout(result),
    }
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

/// The body of the provider's answer. It may be empty, because the status alone can say that a prompt was too long.
fn body(path: &Path) -> Result<Vec<u8>, CommandError> {
    Ok(InputFile::load(path)?.bytes.to_vec())
}

pub async fn recover(
    args: &RecoverArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let body = body(&args.body)?;
    let mut stored = host.session(&args.id).await?;
    let before = stored.row().active;
    let refused = RefusedRequest { status: args.status, body: &body, reply: 0 };
    let RecoveryOutcome { judged, tokens, retry: numbered } =
        midfold::recover(&mut stored, &refused, runtime::now()).await?;
    let Some(numbered) = numbered else { return Err(judged.no_overflow().into()) };
    if !json {
        output.stderr(&refusal_text(&judged.diagnosis, tokens));
    }
    emit(&stored, &numbered, before, args.output.as_deref(), json, output)
}

fn refusal_text(diagnosis: &Diagnosis, tokens: u64) -> String {
    let named = |n: Option<u64>| n.map(number);
    match diagnosis {
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
