//! Reading what was named on the command line.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use bytes::Bytes;
use midfold::formats::read::{Format, ReadError, ReadOutcome, read, read_recorded};
use midfold::{Advise, Area, Door, Failure, Host, nearest};

use crate::error::CommandError;
use crate::output::reason;

/// How options are spelled here, and how files are read.
pub const HOST: Host = Host { door: Door::Command, read: bytes };

/// A file, or standard input, with its name for messages.
pub struct Input {
    pub name: String,
    pub bytes: Bytes,
}

impl Input {
    /// Reads a file; `-` is standard input.
    pub fn load(path: &Path) -> Result<Self, CommandError> {
        Ok(Self { name: name(path), bytes: bytes(path)?.into() })
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

    /// Why it is of no use without a message.
    pub fn empty(&self) -> CommandError {
        CommandError::failed(format!("{}: there is no message in it", self.name))
            .hint("a session that was opened and never used looks like this; name another file")
    }

    fn checked(&self, found: Result<ReadOutcome, ReadError>) -> Result<ReadOutcome, CommandError> {
        let place = || format!("{}: ", self.name);
        let found = found.map_err(|error| error.advise(Door::Command).at(place()))?;
        if found.conversations.iter().all(|conversation| conversation.events.is_empty()) {
            return Err(self.empty());
        }
        Ok(found)
    }
}

/// The bytes of a file, or of standard input.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if is_stdin(path) { read_stdin() } else { fs::read(path) };
    let bytes = bytes.map_err(|error| unreadable(path, &name(path), &error))?;
    unpacked(bytes).map_err(|error| {
        let what = format!("{} cannot be unpacked: {}", name(path), reason(&error));
        Failure::new(Area::Input, what).hint("the file was cut off or damaged: fetch it again")
    })
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
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

/// The bytes of a gzip or Zstandard file unpacked, by what it starts with; others as they are.
fn unpacked(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => {
            flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain)?
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            zstd::stream::copy_decode(&bytes[..], &mut plain).map(|()| 0)?
        }
        _ => return Ok(bytes),
    };
    Ok(plain)
}

fn unreadable(path: &Path, name: &str, error: &std::io::Error) -> Failure {
    let failed = |text: String| Failure::new(Area::Input, text);
    if path.is_dir() {
        return failed(format!("{name} is a directory, not a transcript"))
            .hint(format!("name a file in it, such as {}", example_in(path)));
    }
    if error.kind() == ErrorKind::NotFound {
        return failed(format!("{name}: there is no such file"))
            .maybe_hint(neighbour(path).map(|near| format!("did you mean {near}?")));
    }
    failed(format!("{name} cannot be read: {}", reason(error)))
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
