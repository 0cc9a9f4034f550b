//! Reading what was named on the command line.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use bytes::Bytes;
use midfold::formats::read::{Format, ReadError, ReadOutcome, read, read_recorded};

use crate::error::{CommandError, nearest};
use crate::output::reason;

/// A file, or standard input, with its name for messages.
pub struct Input {
    pub name: String,
    pub bytes: Bytes,
}

impl Input {
    /// Reads a file; `-` is standard input.
    pub fn load(path: &Path) -> Result<Self, CommandError> {
        let name =
            if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
        let bytes = if is_stdin(path) { read_stdin() } else { fs::read(path) };
        match bytes {
            Ok(bytes) => Ok(Self { name, bytes: bytes.into() }),
            Err(error) => Err(unreadable(path, &name, &error)),
        }
    }

    /// Reads a file of text.
    pub fn text(path: &Path) -> Result<String, CommandError> {
        let input = Self::load(path)?;
        String::from_utf8(input.bytes.to_vec())
            .map_err(|_| CommandError::failed(format!("{} is not text in UTF-8", input.name)))
    }

    /// The conversations in it.
    pub fn conversations(&self, from: Option<Format>) -> Result<ReadOutcome, CommandError> {
        self.checked(read(&self.bytes, from))
    }

    /// The conversations in it, and what its client compacted since.
    pub fn recorded(&self, from: Option<Format>) -> Result<ReadOutcome, CommandError> {
        self.checked(read_recorded(&self.bytes, from))
    }

    fn checked(&self, found: Result<ReadOutcome, ReadError>) -> Result<ReadOutcome, CommandError> {
        let found = found.map_err(|error| self.explain(&error))?;
        if found.conversations.iter().all(|conversation| conversation.events.is_empty()) {
            return Err(CommandError::failed(format!("{}: there is no message in it", self.name))
                .hint(
                    "a session that was opened and never used looks like this; name another file",
                ));
        }
        Ok(found)
    }

    fn explain(&self, error: &ReadError) -> CommandError {
        let failed = |what: String| CommandError::failed(format!("{}: {what}", self.name));
        match error {
            ReadError::Empty => failed("the file is empty".to_owned())
                .hint("pass a request body or a session file"),
            ReadError::Binary { offset } => {
                failed(format!("not text (byte {offset} belongs to no UTF-8 text)"))
                    .hint("unpack or convert it to JSON or JSON Lines in UTF-8 first")
            }
            ReadError::NotJson { line, column, detail } => {
                failed(format!("not JSON at line {line}, column {column}: {detail}"))
                    .hint("JSON, or JSON Lines with one value a line, can be read")
            }
            ReadError::Truncated { line, column } => {
                failed(format!("the JSON ends in the middle, at line {line}, column {column}"))
                    .hint("the file was cut off: fetch it again, or wait until it is written")
            }
            ReadError::Unrecognised { seen } => failed(format!("no messages found in {seen}"))
                .hint("looked for `messages`, `input`, `conversations`, `traj`, `history`, a list of \
                       messages, one message a line, and the session files of Claude Code, Codex and pi")
                .hint("name the format with --from to force one"),
            other => failed(other.to_string()),
        }
    }
}

/// Whether this names standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read_stdin() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, name: &str, error: &std::io::Error) -> CommandError {
    if path.is_dir() {
        return CommandError::failed(format!("{name} is a directory, not a transcript"))
            .hint(format!("name a file in it, such as {}", example_in(path)));
    }
    if error.kind() == ErrorKind::NotFound {
        return CommandError::failed(format!("{name}: there is no such file"))
            .maybe_hint(neighbour(path).map(|near| format!("did you mean {near}?")));
    }
    CommandError::failed(format!("{name} cannot be read: {}", reason(error)))
}

/// The first transcript of a directory, by name.
fn example_in(path: &Path) -> String {
    let is_transcript =
        |name: &str| [".jsonl", ".json", ".traj"].iter().any(|end| name.ends_with(end));
    let mut names = names_in(path);
    names.retain(|name| is_transcript(name));
    names.sort();
    path.join(names.first().map_or("session.jsonl", String::as_str)).display().to_string()
}

/// A file beside the one that is not there, whose name is near.
fn neighbour(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut names = names_in(parent.unwrap_or(Path::new(".")));
    names.sort();
    let near = nearest(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}

fn names_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
