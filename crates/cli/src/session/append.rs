//! `midfold session append`: messages in, their places out, and nothing acknowledged that is not
//! durable.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use midfold::formats::read::{self, Conversation, Format, ReadError};
use midfold::formats::{DialectKind, scan};
use midfold::store::{Appended, StoreError, Stored, StoredError};
use midfold::{Log, RawEvent};
use serde_json::json;

use crate::args::Append;
use crate::error::CommandError;
use crate::host::{self, Host};
use crate::input::{Input, is_stdin};
use crate::output::Output;

/// Others may append first so often; each time one of them went on.
const ROUNDS: u64 = 40;

/// Messages, and what they were read as.
pub struct Messages {
    name: String,
    conversation: Conversation,
}

/// Reads what is to be appended. All of it has to be messages: what is left out silently is lost.
pub fn input(path: &Path) -> Result<Messages, CommandError> {
    let input = Input::load(path)?;
    let name = input.name.clone();
    if let Err(ReadError::Empty) = read::read(&input.bytes, None) {
        return Err(CommandError::failed(format!("{name} is empty: there is nothing to append"))
            .hint("give one message, a list of messages, or one message a line: {\"role\":\"user\",\"content\":\"…\"}"));
    }
    let mut found = input.conversations(None).map_err(|mut error| {
        error.hints.retain(|hint| !hint.contains("--from") && !hint.contains("looked for"));
        if error.message.contains("no messages found") {
            error = error.hint("a message looks like {\"role\":\"user\",\"content\":\"…\"}");
        }
        error
    })?;
    // A mark at the start is no message; anything else that was noted is a message that would be
    // left out or changed.
    if let Some(problem) = found.problems.iter().find(|problem| problem.code != "byte-order-mark") {
        let place = problem.at.map_or(String::new(), |line| format!(", line {line}"));
        let what = match problem.code {
            "odd-message" => "not a message: it is no JSON object",
            _ => problem.detail.trim_start_matches("left out, ").trim_start_matches("left out "),
        };
        return Err(CommandError::failed(format!("{name}{place}: {what}"))
            .hint("nothing was appended: all of it has to be messages, as they are to be sent")
            .hint("`midfold import` takes what can be read of a file, and says what it left out"));
    }
    let count = found.conversations.len();
    let (1, Some(conversation)) = (count, found.conversations.pop()) else {
        return Err(CommandError::failed(format!("{name} holds {count} conversations, not one"))
            .hint("`midfold import` makes a session of each"));
    };
    Ok(Messages { name, conversation })
}

pub async fn run(
    args: &Append,
    input: &Messages,
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    fits(input, &stored, &args.file)?;
    let events = stripped(&input.conversation.events);
    let done = appended(host, &mut stored, events, args.key.clone(), args.expect).await?;
    let seqs: Vec<u64> = (done.first..done.first + done.count).collect();
    if json {
        return output.stdout(format!("{}\n", json!({ "seqs": seqs, "repeated": done.repeated })));
    }
    if done.repeated {
        output.stderr("this key was used for the same messages before: nothing was appended\n");
    }
    output.stdout(seqs.iter().map(|seq| format!("{seq}\n")).collect::<String>())
}

/// Appends, and goes on where others append at the same time: a command line expects no place,
/// unless it says so.
pub async fn appended(
    host: &Host,
    stored: &mut Stored,
    events: Vec<RawEvent>,
    key: Option<String>,
    expect: Option<u64>,
) -> Result<Appended, CommandError> {
    let mut round = 0;
    loop {
        let actual = stored.row().head;
        if let Some(expected) = expect.filter(|expected| *expected != actual && key.is_none()) {
            let error = StoreError::Conflict { expected, actual };
            return Err(host.store_failed(error).await);
        }
        match stored.append(events.clone(), key.clone(), host::now()).await {
            Ok(done) => return Ok(done),
            Err(StoredError::Store(StoreError::Conflict { .. }))
                if expect.is_none() && round < ROUNDS =>
            {
                round += 1;
                // The session was read again; apart from each other, not all at once again.
                tokio::time::sleep(Duration::from_millis(host::random() % (4 * round))).await;
            }
            Err(error) => return Err(host.failed(error).await),
        }
    }
}

/// The messages of a log.
pub fn each(log: &Log) -> Vec<RawEvent> {
    let event = |event: &midfold::core::log::Event| RawEvent {
        usage: event.usage,
        ..RawEvent::new(Bytes::clone(&event.bytes))
    };
    log.events().iter().map(event).collect()
}

/// What a reader knows beside the bytes is not stored: the log must read the same tomorrow.
fn stripped(events: &[RawEvent]) -> Vec<RawEvent> {
    let bare = |event: &RawEvent| RawEvent {
        usage: event.usage,
        ..RawEvent::new(Bytes::clone(&event.bytes))
    };
    events.iter().map(bare).collect()
}

/// Whether the messages are in the session's dialect.
fn fits(input: &Messages, stored: &Stored, file: &Path) -> Result<(), CommandError> {
    let Some(kind) = DialectKind::from_name(&stored.row().new.dialect) else { return Ok(()) };
    let Conversation { format, events, .. } = &input.conversation;
    let found = format.dialect();
    // Plain messages of role and text are the same in three dialects.
    let plain = found == DialectKind::OpenAiChat
        && matches!(format, Format::OpenAiChat | Format::FineTuning)
        && kind != DialectKind::ShareGpt
        && !events.iter().any(|event| is_chat_only(&event.bytes));
    if found == kind || plain {
        return Ok(());
    }
    let file = if is_stdin(file) { "FILE".to_owned() } else { file.display().to_string() };
    Err(CommandError::failed(format!(
        "{}: these are {found} messages, and session `{}` holds {kind}",
        input.name,
        stored.row().new.id
    ))
    .hint(format!("a session of their own: midfold import {file}"))
    .hint(format!("converted: midfold import {file} --to {kind}")))
}

/// What Chat Completions alone writes.
fn is_chat_only(bytes: &[u8]) -> bool {
    let has = |name| scan::get(bytes, 0..bytes.len(), name);
    let role = has("role").map(|at| &bytes[at]);
    ["tool_calls", "tool_call_id", "function_call"].iter().any(|name| has(name).is_some())
        || matches!(role, Some(br#""tool""# | br#""function""#))
}
