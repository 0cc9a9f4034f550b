//! Finds the newest of several reads and writes of a file.

use std::collections::HashMap;

use midfold_core::tools::{CallFacts, ToolKind};
use serde::Serialize;

use super::reading::PairedEvents;

/// Whether a message shows the newest state of a file that the log has at several times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileVersion {
    /// The path of the file.
    pub path: String,
    /// Whether no later message reads or writes the file.
    pub newest: bool,
    /// The number of the message that shows the newest state, or that changed the file last.
    pub see: u64,
}

/// One read or write of a file.
struct FileTouch {
    /// The message that shows it: the result of a read, or the call of a write.
    event: u64,
    writes: bool,
    /// First line and number of lines of a partial read.
    range: Option<(u64, u64)>,
}

/// The files of a log, with all their reads and writes.
pub(super) struct FileVersions {
    /// The reads and writes of each file, in the order of the log.
    files: HashMap<String, Vec<FileTouch>>,
    /// The files that each message reads or writes.
    of: HashMap<u64, Vec<String>>,
}

impl FileVersions {
    /// Collects the reads and writes that did not fail.
    pub fn of(log: &PairedEvents<'_>) -> Self {
        let mut all = Self { files: HashMap::new(), of: HashMap::new() };
        for event in log.events {
            for (at, call) in log.calls_of(event.seq) {
                let facts = call.facts(log.tools);
                if facts.kind != ToolKind::Shell && !log.failed(at) {
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
            self.of.entry(event).or_default().push(path);
        }
    }

    /// Whether this message has the newest version of its file. `None` where it has no single file, or no other
    /// message has that file.
    pub fn of_event(&self, event: u64) -> Option<FileVersion> {
        let paths = self.of.get(&event)?;
        let [path] = paths.as_slice() else { return None };
        let touches = self.files.get(path)?;
        let own = touches.iter().find(|touch| touch.event == event)?;
        let same = |touch: &&FileTouch| {
            touch.event != event && (touch.writes || own.writes || touch.range == own.range)
        };
        let last = touches.iter().filter(same).map(|touch| touch.event).max()?;
        Some(FileVersion { path: path.clone(), newest: last < event, see: last.max(event) })
    }
}
