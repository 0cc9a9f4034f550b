//! Finds the newest of several reads and writes of a file.

use std::collections::{BTreeSet, HashMap};

use midfold_core::tools::{CallFacts, ToolKind};
use serde::Serialize;

use super::reading::PairedEvents;

/// For a message that reads or writes one file, which other messages read or write, too: whether it shows the newest
/// state of that file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileVersion {
    /// The path of the file.
    pub path: String,
    /// Whether no later message writes the file or reads the same lines of it. Where this message itself writes the
    /// file, any later read counts, too.
    pub newest: bool,
    /// The number of the newest message that writes the file or reads the same lines: this message where `newest` is
    /// true, else a later one.
    pub see: u64,
}

/// One read or write of a file.
struct FileTouch {
    /// The message that shows it: the result of a read, or the call of a write.
    event: u64,
    writes: bool,
    /// First line and number of lines of a partial read. `None` for a write, and for a read of the whole file.
    range: Option<(u64, u64)>,
}

/// The files of a log, with all their reads and writes.
pub(super) struct FileVersions {
    /// The reads and writes of each file, in the order of the log.
    files: HashMap<String, Vec<FileTouch>>,
    /// The files that each message reads or writes, each once.
    paths_by_event: HashMap<u64, BTreeSet<String>>,
}

impl FileVersions {
    /// Collects the reads and writes that did not fail.
    pub fn of(log: &PairedEvents<'_>) -> Self {
        let mut all = Self { files: HashMap::new(), paths_by_event: HashMap::new() };
        for event in log.events {
            for (at, call) in log.calls_of(event.seq) {
                let facts = call.facts(log.tools);
                if !log.failed(at) {
                    all.add(event.seq.into(), &facts.writes, true, &facts);
                }
            }
            for result in log.results_of(event.seq) {
                let facts = log.call_of(result).1;
                // A command that names a file may show any part of it, so only read tools count.
                if facts.kind == ToolKind::Read && !log.outcome(result).failed {
                    all.add(event.seq.into(), &facts.reads, false, &facts);
                }
            }
        }
        all
    }

    fn add(&mut self, event: u64, paths: &[String], writes: bool, facts: &CallFacts) {
        for path in paths {
            let path = path.trim_start_matches("./").to_owned();
            let range = facts.range.filter(|_| !writes);
            self.files.entry(path.clone()).or_default().push(FileTouch { event, writes, range });
            self.paths_by_event.entry(event).or_default().insert(path);
        }
    }

    /// Whether this message shows the newest state of its file. `None` where it reads or writes no file or several
    /// files, or where no other message writes the file or reads the same lines of it.
    pub fn of_event(&self, event: u64) -> Option<FileVersion> {
        let mut paths = self.paths_by_event.get(&event)?.iter();
        let (Some(path), None) = (paths.next(), paths.next()) else { return None };
        let (own, others): (Vec<_>, Vec<_>) =
            self.files.get(path)?.iter().partition(|touch| touch.event == event);
        // Two reads of different lines do not show whether the file changed in between.
        let is_comparable = |other: &&&FileTouch| {
            own.iter().any(|own| other.writes || own.writes || other.range == own.range)
        };
        let last = others.iter().filter(is_comparable).map(|touch| touch.event).max()?;
        Some(FileVersion { path: path.clone(), newest: last < event, see: last.max(event) })
    }
}
