//! `midfold serve key`: keys that let clients use `midfold serve`.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use midfold_args::{KeyCommand, NewKey, RemoveKey, ScopeName};
use midfold_serve::{ApiKey, ApiKeys, KeyEntry, KeyHash, KeyScope, KeysError};
use serde_json::json;

use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::{Output, OutputColor, reason};
use crate::presets::pretty;
use crate::serving;
use crate::table::TextTable;

pub fn run(command: &KeyCommand, json: bool, output: &Output) -> Result<(), CommandError> {
    match command {
        KeyCommand::New(args) => new(args, json, output),
        KeyCommand::List(args) => list(&named(args.keys.as_deref())?, json, output),
        KeyCommand::Remove(args) => remove(args, output),
    }
}

/// The file of keys that `MIDFOLD_KEYS` or a settings file names.
fn of_settings() -> Result<Option<PathBuf>, CommandError> {
    Ok(serving::below()?.keys)
}

/// The file of keys that was named here or in the settings.
fn named(path: Option<&Path>) -> Result<PathBuf, CommandError> {
    match path {
        Some(path) => Ok(path.to_owned()),
        None => of_settings()?.ok_or_else(|| {
            CommandError::usage("no file of keys is named").hint("name one: --keys keys.toml")
        }),
    }
}

/// Reads the file of keys for the server.
pub fn read(path: &Path) -> Result<ApiKeys, CommandError> {
    let text = InputFile::text(path).map_err(|error| {
        let new = format!("midfold serve key new NAME --keys {}", path.display());
        CommandError { hints: vec![format!("`{new}` makes one")], ..error }
    })?;
    ApiKeys::from_toml(&text).map_err(|error| wrong(path, &error))
}

fn new(args: &NewKey, json: bool, output: &Output) -> Result<(), CommandError> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        CommandError::failed(format!("the system gives no random bytes: {error}"))
    })?;
    let key = ApiKey::from_bytes(random);
    let mut scopes: Vec<KeyScope> = args.scope.iter().copied().map(scope).collect();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        scopes.push(KeyScope::Proxy);
    }
    let entry = KeyEntry {
        name: args.name.clone(),
        hash: KeyHash::of(key.as_str()),
        scopes,
        requests_per_minute: args.requests_per_minute,
        longest_body: args.longest_body,
        longest_history: args.longest_history,
        recall: args.recall,
        agent_tools: args.agent_tools,
    };
    let file = args.keys.clone().map_or_else(of_settings, |path| Ok(Some(path)))?;
    let file = file.as_deref();
    let before = file.map_or(Ok(String::new()), existing)?;
    let place = file.unwrap_or(Path::new("the new key"));
    let after = entry.added_to(&before).map_err(|error| wrong(place, &error))?;
    if let Some(path) = file {
        written(path, &after, output)?;
    }
    if json {
        let lines = entry.to_string();
        let value = json!({
            "key": key.as_str(), "name": entry.name, "hash": entry.hash, "lines": lines, "keys": file,
        });
        return output.stdout(pretty(&value)?);
    }
    output.stdout(format!("{}\n", key.as_str()))?;
    output.stderr(&match file {
        Some(path) => format!(
            "{} has the hash of the key of `{}`; the key itself is kept nowhere\n\
             a running server takes it after `kill -HUP PID`, or when it starts again\n",
            path.display(),
            entry.name
        ),
        None => format!("{entry}"),
    });
    Ok(())
}

fn scope(name: ScopeName) -> KeyScope {
    match name {
        ScopeName::Proxy => KeyScope::Proxy,
        ScopeName::Sessions => KeyScope::Sessions,
        ScopeName::Admin => KeyScope::Admin,
    }
}

fn list(path: &Path, json: bool, output: &Output) -> Result<(), CommandError> {
    let entries = KeyEntry::all(&InputFile::text(path)?).map_err(|error| wrong(path, &error))?;
    if json {
        return output.stdout(pretty(&entries)?);
    }
    if entries.is_empty() {
        return output.stdout(format!("there is no key in {}\n", path.display()));
    }
    let mut table =
        TextTable::new(["name", "scopes", "a minute", "longest body", "longest history", "tools"])
            .color(0, OutputColor::Bold);
    for entry in entries {
        let scopes: Vec<_> = entry.scopes.iter().map(|scope| scope.name()).collect();
        let limit_text =
            |limit: Option<u64>| limit.map_or("any".to_owned(), |limit| limit.to_string());
        table.row([
            entry.name.clone(),
            scopes.join(", "),
            limit_text(entry.requests_per_minute.map(u64::from)),
            limit_text(entry.longest_body),
            limit_text(entry.longest_history),
            tools(&entry),
        ]);
    }
    output.stdout(table.render(&output.stdout_style(), 0))
}

/// The tools that the entry gives or withholds; `usual` where the server decides.
fn tools(entry: &KeyEntry) -> String {
    let given = [("recall", entry.recall), ("agent tools", entry.agent_tools)];
    let words = given.into_iter().filter_map(|(name, gives)| {
        gives.map(|gives| if gives { name.to_owned() } else { format!("no {name}") })
    });
    let words: Vec<_> = words.collect();
    if words.is_empty() { "usual".to_owned() } else { words.join(", ") }
}

fn remove(args: &RemoveKey, output: &Output) -> Result<(), CommandError> {
    let path = &named(args.keys.as_deref())?;
    let before = InputFile::text(path)?;
    let after = KeyEntry::removed_from(&before, &args.name).map_err(|error| wrong(path, &error))?;
    output.file(path, after.as_bytes())?;
    output.stderr(&format!(
        "{} is no longer let in by {}; a server that runs reads it again on SIGHUP\n",
        args.name,
        path.display()
    ));
    Ok(())
}

/// The text of a file of keys. Empty where there is no file.
fn existing(path: &Path) -> Result<String, CommandError> {
    if path.exists() { InputFile::text(path) } else { Ok(String::new()) }
}

/// Writes the whole file. Only the owner can read a new one.
fn written(path: &Path, text: &str, output: &Output) -> Result<(), CommandError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // A file that is there keeps its own mode.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            let text = format!("{} cannot be written: {}", path.display(), reason(&error));
            Err(CommandError::failed(text).hint("name a file in a folder that is there"))
        }
        // The file exists now, and its replacement takes over the permissions.
        _ => output.file(path, text.as_bytes()),
    }
}

fn wrong(path: &Path, error: &KeysError) -> CommandError {
    let text = CommandError::usage(format!("{}: {error}", path.display()));
    match error {
        KeysError::Unknown(_) => {
            text.hint(format!("`midfold serve key list --keys {}` lists them", path.display()))
        }
        KeysError::Written => text.hint("take its lines out by hand"),
        KeysError::Toml(_) | KeysError::Entry(..) => {
            text.hint("`midfold serve key new NAME` prints the lines of a key as they should be")
        }
    }
}
