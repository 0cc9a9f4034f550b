//! Adds `midfold mcp` to clients that have a command for it, which knows their settings best.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use midfold_args::{ConnectArgs, ConnectedClient};
use serde_json::json;

use super::program::{absolute, program};
use crate::error::CommandError;
use crate::output::{Output, reason};
use crate::presets::pretty;
use crate::words::quoted;

/// The name under which clients know the server.
const NAME: &str = "midfold";

/// Adds the server to a client, or removes it.
pub fn connect(
    client: ConnectedClient,
    args: &ConnectArgs,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let (called, words) = words(client, args)?;
    let line = [called].into_iter().chain(words.iter().map(String::as_str));
    let line = line.map(quoted).collect::<Vec<_>>().join(" ");
    // What the client says goes to standard error, so that standard output has one form.
    let outcome = Command::new(called).args(&words).stdin(Stdio::null()).output();
    let outcome = outcome.map_err(|error| match error.kind() {
        ErrorKind::NotFound => CommandError::failed(format!("there is no program `{called}`"))
            .hint(format!("it would have been asked: {line}")),
        _ => CommandError::failed(format!("`{called}` cannot be run: {}", reason(&error))),
    })?;
    if !outcome.status.success() {
        let printed = [outcome.stdout, outcome.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        let text = format!("`{line}` failed: {}", printed.trim());
        return Err(CommandError::failed(text));
    }
    if json {
        return output.stdout(pretty(&json!({ "client": called, "command": line }))?);
    }
    let change = if args.remove { "Recall taken out of" } else { "Recall added to" };
    output.stdout(format!("{change} {called}: {line}\n"))
}

/// The client's program, and the words that it is called with.
fn words(
    client: ConnectedClient,
    args: &ConnectArgs,
) -> Result<(&'static str, Vec<String>), CommandError> {
    let scope = if args.scope.project { "project" } else { "user" };
    let (called, scope, end): (_, &[&str], &[&str]) = match client {
        ConnectedClient::Gemini => ("gemini", &["--scope", scope], &[]),
        _ if args.scope.project => {
            return Err(CommandError::usage("Codex has one file of settings, for all projects")
                .hint("leave --project out"));
        }
        _ => ("codex", &[], &["--"]),
    };
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    if args.remove {
        return Ok((called, [owned(&["mcp", "remove"]), owned(scope), owned(&[NAME])].concat()));
    }
    let mut words =
        [owned(&["mcp", "add"]), owned(scope), owned(&[NAME]), owned(end), vec![program()?]]
            .concat();
    words.push("mcp".to_owned());
    if let Some(store) = &args.at.store {
        words.extend(["--store".to_owned(), absolute(store)?]);
    }
    Ok((called, words))
}
