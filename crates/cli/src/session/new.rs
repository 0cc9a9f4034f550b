//! `midfold session new`: makes a session and prints its id.

use std::path::Path;

use bytes::Bytes;
use midfold::store::StoredSession;
use midfold::{DialectKind, Door, PreparedConversation, Start, without_messages};
use midfold_args::{NewSessionArgs, StartArgs as Args};
use serde_json::Value;

use super::text::json_line;
use crate::error::CommandError;
use crate::host::{self, OpenStore};
use crate::input::InputFile;
use crate::output::{Output, OutputColor};
use crate::prepare;
use crate::runtime;

/// Reads the system prompt and the tools of a new session. This happens before a store is opened.
pub fn prepare(args: &NewSessionArgs) -> Result<PreparedConversation, CommandError> {
    let kind = midfold::dialect(&args.dialect)?;
    let system = args.system.as_deref().map(InputFile::text).transpose()?;
    let tools = args.tools.as_deref().map(|path| tools(path, kind)).transpose()?;
    let empty = without_messages(kind, system.as_deref(), tools, args.model.clone());
    Ok(prepare::setup(&args.start.measure, None)?.prepare(empty)?)
}

fn tools(path: &Path, kind: DialectKind) -> Result<Bytes, CommandError> {
    let text = InputFile::text(path)?;
    let place = path.display();
    match serde_json::from_str(&text) {
        Ok(Value::Array(_)) => Ok(text.trim().to_owned().into()),
        // Bedrock's `toolConfig` is an object that holds the list.
        Ok(Value::Object(_)) if kind == DialectKind::Bedrock => Ok(text.trim().to_owned().into()),
        Ok(_) => Err(CommandError::failed(format!("{place}: not a JSON list of tools"))
            .hint("write the value of `tools` as the request has it: [{…}, …]")),
        Err(error) => Err(CommandError::failed(format!("{place}: not JSON: {error}"))),
    }
}

pub async fn run(
    args: &NewSessionArgs,
    prepared: PreparedConversation,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let now = runtime::now();
    let fresh = || host::new_id(now, [host::random(), host::random()]);
    let id = args.id.clone().unwrap_or_else(fresh);
    create(host, &id, &args.start, &prepared).await?;
    if host.is_memory {
        let style = output.stderr_style();
        let text = "note: a store in memory ends with this command: nothing is kept\n";
        output.stderr(&style.paint(OutputColor::Yellow, text));
    }
    match json {
        true => output.stdout(json_line(&*host.overviews().one(&id).await?)?),
        false => output.stdout(format!("{id}\n")),
    }
}

/// Makes a session for a prepared conversation. Some dialects have the system prompt among the messages, which are its
/// first ones then.
async fn create(
    host: &OpenStore,
    id: &str,
    start: &Args,
    prepared: &PreparedConversation,
) -> Result<StoredSession, CommandError> {
    let start = Start {
        output_reserve: start.output_reserve.unwrap_or(0),
        ..Start::new(id, prepare::narrated(&start.folding)?)
    };
    let started = start.check(prepared, runtime::now(), Door::Command)?;
    started.can_be_stored()?;
    let first = started.messages();
    Ok(started.store(host.store.clone(), first).await?)
}
