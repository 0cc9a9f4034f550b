//! Sessions that a client keeps as a folder of many small files. They are read as one transcript, one file after the
//! other.
//!
//! Cline and Roo Code keep other files beside the conversation, so their folders are read, too.
//!
//! The layouts come from `packages/opencode/src/storage/storage.ts` of anomalyco/opencode, and from the file store of
//! OpenHands, where an event is `events/event-00000-ID.json` (1.x) or `events/0.json` (earlier). Those of Cline come from
//! `sdk/packages/core/src/services/session-artifacts.ts` of cline/cline, that of Roo Code from
//! `src/shared/globalFileNames.ts` of RooCodeInc/Roo-Code.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use midfold::formats::scan::one_line;
use serde::de::IgnoredAny;

use crate::output::reason;

/// The name of the OpenHands folder with one file for each event.
const EVENTS: &str = "events";
/// The name of the file with the conversation of a task.
const HISTORY: &str = "api_conversation_history.json";

/// A folder that is one transcript.
pub enum SessionFolder {
    /// OpenCode's `storage`, with all its sessions. Before its first migration it is `storage/session`.
    OpencodeStorage(PathBuf),
    /// A folder in OpenCode's `storage/message`, with the messages of one session.
    OpencodeSession { storage: PathBuf, messages: PathBuf },
    /// The `events` folder of one OpenHands conversation.
    Events(PathBuf),
    /// The history in a task's folder of Cline or Roo Code.
    ClineTask(PathBuf),
    /// A session's folder of Cline, which has the name of the session.
    ClineSession(PathBuf),
}

impl SessionFolder {
    /// The session folder at this path. `None` for a file, and for a folder that only holds transcripts.
    pub fn of(path: &Path) -> Option<Self> {
        if is_opencode_storage(path) {
            return Some(Self::OpencodeStorage(path.to_owned()));
        }
        let above = path.parent().filter(|above| above.file_name() == Some("message".as_ref()));
        let storage = above.and_then(Path::parent).filter(|storage| is_opencode_storage(storage));
        if let Some(storage) = storage.filter(|_| path.is_dir()) {
            let (storage, messages) = (storage.to_owned(), path.to_owned());
            return Some(Self::OpencodeSession { storage, messages });
        }
        let history = path.join(HISTORY);
        if history.is_file() {
            return Some(Self::ClineTask(history));
        }
        if cline_file(path, "messages").is_some_and(|file| file.is_file()) {
            return Some(Self::ClineSession(path.to_owned()));
        }
        let is_named_so = path.file_name() == Some(EVENTS.as_ref());
        let events = if is_named_so { path.to_owned() } else { path.join(EVENTS) };
        holds_events(&events).then_some(Self::Events(events))
    }

    /// The files as one stream of JSON values, each on one line, so that line 3 in a note means the third file. Fails
    /// with the file's name where a file is not JSON.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let files = self.files()?;
        if let Self::ClineTask(history) = self {
            // One file, so a line in a note is a line of it.
            return fs::read(history);
        }
        let mut stream = Vec::new();
        for path in files {
            let failed =
                |kind, text: String| io::Error::new(kind, format!("{}: {text}", path.display()));
            let bytes = fs::read(&path).map_err(|error| failed(error.kind(), reason(&error)))?;
            serde_json::from_slice::<IgnoredAny>(&bytes)
                .map_err(|error| failed(ErrorKind::InvalidData, format!("no JSON: {error}")))?;
            stream.extend_from_slice(&one_line(&bytes));
            stream.push(b'\n');
        }
        Ok(stream)
    }

    /// The files, in the order in which they are read.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        match self {
            Self::OpencodeStorage(storage) => {
                let mut files = Vec::new();
                // Before the first migration sessions are in `info`, later in `session`.
                for kind in ["session", "info", "message", "part"] {
                    json_below(&storage.join(kind), &mut files)?;
                }
                Ok(files)
            }
            Self::OpencodeSession { storage, messages } => {
                let mut files = Vec::new();
                let mut sessions = Vec::new();
                for kind in ["session", "info"] {
                    json_below(&storage.join(kind), &mut sessions)?;
                }
                let id = messages.file_name();
                files.extend(sessions.into_iter().filter(|path| path.file_stem() == id));
                json_below(messages, &mut files)?;
                let of_session = id.map(|id| storage.join("part").join(id));
                // Before the first migration parts are in a folder for their session, later in a folder for their
                // message.
                match of_session.filter(|parts| parts.is_dir()) {
                    Some(parts) => json_below(&parts, &mut files)?,
                    None => {
                        for message in files.clone() {
                            let id = message.file_stem().unwrap_or_default();
                            json_below(&storage.join("part").join(id), &mut files)?;
                        }
                    }
                }
                Ok(files)
            }
            Self::ClineTask(history) => Ok(vec![history.clone()]),
            Self::ClineSession(session) => {
                let mut files = Vec::new();
                json_below(session, &mut files)?;
                let own = cline_file(session, "messages");
                // Those of its agents come after the session itself, which has its compaction behind it.
                files.retain(|path| ends_so(path, ".messages.json") && Some(path) != own.as_ref());
                let compaction = cline_file(session, "compaction").filter(|file| file.is_file());
                Ok(own.into_iter().chain(compaction).chain(files).collect())
            }
            Self::Events(events) => {
                let mut files = Vec::new();
                json_below(events, &mut files)?;
                // The order is by number, because `10.json` comes before `9.json` by name.
                files.sort_by_key(|path| event_number(path));
                Ok(files)
            }
        }
    }
}

/// A file in a session's folder of Cline, which has the name of the folder. `None` where that name cannot be read.
fn cline_file(session: &Path, kind: &str) -> Option<PathBuf> {
    // `.` is a folder with a name, too.
    let named = fs::canonicalize(session).ok()?;
    let id = named.file_name()?.to_str()?;
    Some(session.join(format!("{id}.{kind}.json")))
}

fn ends_so(path: &Path, end: &str) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.ends_with(end))
}

fn is_opencode_storage(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_dir();
    has("message") && has("part")
}

/// Whether the folder has JSON files, and the name of each is that of an event.
fn holds_events(folder: &Path) -> bool {
    let mut files = Vec::new();
    json_below(folder, &mut files).is_ok()
        && !files.is_empty()
        && files.iter().all(|path| event_number(path).is_some())
}

/// The number in the name of an event's file. `None` for other names.
fn event_number(path: &Path) -> Option<u64> {
    let name = path.file_stem().and_then(OsStr::to_str)?;
    let number = match name.strip_prefix("event-") {
        Some(rest) => rest.split_once('-').map_or(rest, |(number, _)| number),
        None => name,
    };
    number.parse().ok()
}

/// Adds the JSON files in a folder and below it, sorted by name. Adds nothing where there is no such folder.
fn json_below(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        // Links are not followed: a link to a folder above would never end.
        let meta = fs::symlink_metadata(&path)?;
        if meta.is_dir() {
            json_below(&path, files)?;
        } else if meta.is_file() && path.extension() == Some("json".as_ref()) {
            files.push(path);
        }
    }
    Ok(())
}
