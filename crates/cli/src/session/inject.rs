//! `midfold session context --inject`: adds texts of hooks after the history, each within its reserve of tokens.

use std::path::PathBuf;

use midfold::core::inject::Injections;
use midfold::store::{InjectedRequest, StoredSession};
use midfold_args::ContextArgs;
use serde_json::json;

use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::{OpenedFile, Output, OutputColor};
use crate::runtime;
use crate::words::{number, plural};

/// Prints the context with the injected texts behind it.
pub async fn run(
    args: &ContextArgs,
    stored: StoredSession,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = stored.with_injections(hooks(args)?);
    // The injected texts, each with the name of its hook.
    let mut texts = Vec::new();
    for (name, file) in &args.inject {
        let input = InputFile::load(&PathBuf::from(file))?;
        texts.push((name.as_str(), String::from_utf8_lossy(&input.bytes).into_owned()));
    }
    let outputs: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, &**text)).collect();
    let file = output.open(args.output.as_deref())?;
    let injected = stored.context_with(&outputs, !args.no_record, runtime::now()).await?;
    emit(args, &injected, file, json, output)
}

/// The hooks in the order of the command line.
fn hooks(args: &ContextArgs) -> Result<Injections, CommandError> {
    let mut reserves = Vec::new();
    for (name, reserve) in &args.reserve {
        let tokens = reserve.parse().map_err(|_| {
            CommandError::usage(format!("--reserve {name}={reserve}: {reserve} is no number"))
                .hint(format!("--reserve {name}=200 keeps 200 tokens for it"))
        })?;
        reserves.push((name.as_str(), tokens));
    }
    let texts = args.inject.iter().map(|(name, _)| name.as_str());
    Ok(midfold::injections(reserves, texts)?)
}

/// Writes the request to the file of `--output` or to standard output, and says what was injected.
fn emit(
    args: &ContextArgs,
    injected: &InjectedRequest,
    file: Option<OpenedFile<'_>>,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let context = &injected.context;
    let messages = super::text::join(context.messages().map(|(bytes, _)| bytes));
    let result = match json {
        true => {
            let about = json!({
                "session": args.id,
                "call": injected.call,
                "tokens": context.tokens(),
                "injections": context.injections(),
            });
            super::text::object_with(&about, &messages)
        }
        false => messages,
    };
    let rest = match file {
        Some(file) => file.write(&result).map(|()| None)?,
        None => Some(result),
    };
    if !json {
        let each = |one: &midfold::core::inject::Injection| {
            format!("{} {} tokens", one.hook, number(one.tokens))
        };
        let hooks: Vec<String> = context.injections().iter().map(each).collect();
        let count = plural(context.messages().count() as u64, "message");
        let note =
            format!("{count}, {} tokens; injected: {}", number(context.tokens()), hooks.join(", "));
        output.stderr(&format!("{}\n", output.stderr_style().paint(OutputColor::Dim, &note)));
    }
    rest.map_or(Ok(()), |result| output.stdout(result))
}
