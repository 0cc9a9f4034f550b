//! `midfold session append`: appends messages, and reports success only once they are durable. The numbers of the
//! messages are printed only as JSON, because a person needs only errors.

use std::path::Path;

use midfold::{DialectKind, Door, IncomingMessages};
use midfold_args::AppendArgs;
use serde_json::json;

use crate::error::CommandError;
use crate::host::OpenStore;
use crate::input::InputFile;
use crate::output::Output;
use crate::runtime;

/// Reads the messages to append. Fails where there is none.
fn input(path: &Path) -> Result<IncomingMessages, CommandError> {
    let input = InputFile::load(path)?;
    let incoming = IncomingMessages::read(&input.bytes, &input.name, Door::Command)?;
    if incoming.is_empty() { Err(input.empty()) } else { Ok(incoming) }
}

pub async fn run(
    args: &AppendArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let input = input(&args.file)?;
    let mut stored = host.session(&args.id).await?;
    let kind = DialectKind::from_name(&stored.row().new.dialect);
    let events = input.events_for(kind.unwrap_or(DialectKind::OpenAiChat), &args.id)?;
    let appended =
        midfold::append(&mut stored, events, args.key.clone(), args.expect, runtime::now()).await?;
    if json {
        let seqs: Vec<u64> = (appended.first..appended.first + appended.count).collect();
        return output
            .stdout(format!("{}\n", json!({ "seqs": seqs, "repeated": appended.repeated })));
    }
    if appended.repeated {
        output.stderr("this key was used for the same messages before: nothing was appended\n");
    } else {
        tracing::info!(
            session = args.id,
            first = appended.first,
            messages = appended.count,
            "appended"
        );
    }
    Ok(())
}
