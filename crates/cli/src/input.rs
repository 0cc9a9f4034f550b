//! Reads the files that the command line names.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

#[cfg(feature = "sessions")]
use crate::recordings::{TranscriptPart, TranscriptRecordings};
use bytes::Bytes;
use midfold::formats::read::{ReadError, ReadOutcome, TranscriptFormat, read, read_recorded};
use midfold::{AdvisedError, Door, DoorHost, Failure, FailureArea, nearest};

use crate::bounded::{self, MOST_STREAMED};
use crate::error::CommandError;
use crate::eval_archive;
use crate::output::reason;
use crate::paths::is_transcript;
#[cfg(feature = "sessions")]
use crate::regular;
use crate::session_folder::SessionFolder;
use crate::stdin::is_stdin;

/// The most bytes that a packed file may unpack to: 2 GiB. Both formats can pack a repeated byte more than a
/// thousandfold, so a file of 2 MB could fill the memory of a machine. Sets of transcripts that are read at once are
/// far smaller. A plain file has no limit, because its size can be seen beforehand.
const MOST_UNPACKED: u64 = 2 << 30;

/// The spelling of options in messages of the command, and its reader of files.
pub const HOST: DoorHost = DoorHost { door: Door::Command, read: bytes };

/// The bytes of a file or of standard input, and its name for messages.
pub struct InputFile {
    pub name: String,
    pub bytes: Bytes,
}

impl InputFile {
    /// Reads a file; `-` is standard input.
    pub fn load(path: &Path) -> Result<Self, CommandError> {
        Ok(Self { name: name(path), bytes: bytes(path)?.into() })
    }

    /// Reads a file whose path comes from a program. A pipe or a device is refused at once instead of waited for.
    #[cfg(feature = "sessions")]
    pub fn load_file(path: &Path) -> Result<Self, CommandError> {
        let name = name(path);
        let bytes = regular::file(path).map_err(|error| unreadable(path, &name, &error))?;
        let bytes = unpacked(bytes, MOST_UNPACKED).map_err(|error| not_unpacked(&name, &error))?;
        Ok(Self { name, bytes: bytes.into() })
    }

    /// Reads a text file in UTF-8.
    pub fn text(path: &Path) -> Result<String, CommandError> {
        let input = Self::load(path)?;
        String::from_utf8(input.bytes.to_vec())
            .map_err(|_| CommandError::failed(format!("{} is not text in UTF-8", input.name)))
    }

    /// The conversations in the file. Fails where none has a message.
    pub fn conversations(
        &self,
        from: Option<TranscriptFormat>,
    ) -> Result<ReadOutcome, CommandError> {
        self.checked(read(&self.bytes, from))
    }

    /// The conversations in the file, with those that a client compacted as it had them before. Fails where none has a
    /// message.
    pub fn recorded(&self, from: Option<TranscriptFormat>) -> Result<ReadOutcome, CommandError> {
        self.checked(read_recorded(&self.bytes, from))
    }

    /// The conversations in the file, each with the messages that its client sent before it compacted.
    #[cfg(feature = "sessions")]
    pub fn recordings(
        &self,
        from: Option<TranscriptFormat>,
    ) -> Result<TranscriptRecordings, CommandError> {
        let transcript = TranscriptRecordings::read(&self.bytes, from);
        let place = || format!("{}: ", self.name);
        let transcript = transcript.map_err(|error| error.advise(Door::Command).at(place()))?;
        if transcript.recordings.iter().all(TranscriptPart::is_empty) {
            return Err(self.empty());
        }
        Ok(transcript)
    }

    /// The error that no conversation in the file has a message.
    pub fn empty(&self) -> CommandError {
        CommandError::failed(format!("{}: there is no message in it", self.name))
            .hint("a session that was opened and never used looks like this; name another file")
    }

    fn checked(
        &self,
        outcome: Result<ReadOutcome, ReadError>,
    ) -> Result<ReadOutcome, CommandError> {
        let place = || format!("{}: ", self.name);
        let outcome = outcome.map_err(|error| error.advise(Door::Command).at(place()))?;
        if outcome.conversations.iter().all(|conversation| conversation.events.is_empty()) {
            return Err(self.empty());
        }
        Ok(outcome)
    }
}

/// The bytes of a file or of standard input. A packed file is unpacked. For a folder that is one transcript, the bytes
/// of its files follow each other.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if is_stdin(path) {
        bounded::stream(std::io::stdin().lock(), MOST_STREAMED)
    } else if let Some(folder) = SessionFolder::of(path) {
        return folder.read().map_err(|error| broken_folder(path, &error));
    } else {
        bounded::any(path, MOST_STREAMED)
    };
    let bytes = bytes.map_err(|error| unreadable(path, &name(path), &error))?;
    unpacked(bytes, MOST_UNPACKED).map_err(|error| not_unpacked(&name(path), &error))
}

fn broken_folder(path: &Path, error: &std::io::Error) -> Failure {
    let text = format!("{} cannot be read: {}", path.display(), reason(error));
    Failure::new(FailureArea::Input, text)
        .hint("take the broken file out of the folder, or name the folder of another session")
}

/// The error that a file could not be unpacked.
pub fn not_unpacked(name: &str, error: &std::io::Error) -> Failure {
    if error.kind() == ErrorKind::FileTooLarge {
        let gigabytes = MOST_UNPACKED >> 30;
        let text = format!("{name} cannot be unpacked: it holds more than {gigabytes} GiB");
        return Failure::new(FailureArea::Input, text)
            .hint("if it is meant to be that large, unpack it and name the plain file");
    }
    let text = format!("{name} cannot be unpacked: {}", reason(error));
    Failure::new(FailureArea::Input, text).hint("the file was cut off or damaged: fetch it again")
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Unpacks a gzip or Zstandard file, or an `.eval` log of Inspect, which its first bytes identify. Other bytes are
/// returned as they are. More than `most` unpacked bytes are refused as [`ErrorKind::FileTooLarge`].
pub fn unpacked(bytes: Vec<u8>, most: u64) -> std::io::Result<Vec<u8>> {
    let unpack: Box<dyn Read + '_> = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(&bytes[..])),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(zstd::stream::read::Decoder::new(&bytes[..])?),
        [b'P', b'K', ..] => return Ok(eval_archive::log(&bytes, most)?.unwrap_or(bytes)),
        _ => return Ok(bytes),
    };
    let mut plain = Vec::new();
    unpack.take(most.saturating_add(1)).read_to_end(&mut plain)?;
    if plain.len() as u64 > most {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(plain)
}

fn unreadable(path: &Path, name: &str, error: &std::io::Error) -> Failure {
    let failed = |text: String| Failure::new(FailureArea::Input, text);
    if path.is_dir() {
        return failed(format!("{name} is a directory, not a transcript"))
            .hint(format!("name a file in it, such as {}", example_in(path)));
    }
    if error.kind() == ErrorKind::FileTooLarge {
        let megabytes = MOST_STREAMED >> 20;
        return failed(format!("{name} does not end within {megabytes} MiB"))
            .hint("a pipe or a device is read no further; name a file, which is read whole");
    }
    if error.kind() == ErrorKind::NotFound {
        return failed(format!("{name}: there is no such file"))
            .maybe_hint(neighbour(path).map(|near| format!("did you mean {near}?")));
    }
    failed(format!("{name} cannot be read: {}", reason(error)))
}

/// The first transcript of a folder by name, as an example for a hint.
fn example_in(path: &Path) -> String {
    let mut names = names_in(path);
    names.retain(|name| is_transcript(name));
    names.sort();
    path.join(names.first().map_or("session.jsonl", String::as_str)).display().to_string()
}

/// A file in the same folder whose name is similar to that of a missing file. `None` where no name is.
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
