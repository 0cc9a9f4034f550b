//! The report of an import: a table, notes and a sum.

use std::path::Path;

use super::file::to_json;
use super::plan::ImportedSession;
use midfold::view::CarriedProblem;

use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::presets::pretty;
use crate::table::TextTable;
use crate::words::{number, plural};

/// The most notes that are shown.
const SHOWN: usize = 3;

/// The outcome of an import of one or more files.
#[derive(Default)]
pub struct ImportSummary {
    sessions: Vec<ImportedSession>,
    /// Notes about content that could not be carried over.
    notes: Vec<String>,
    /// The number of files in folders that are no transcripts.
    pub no_transcripts: u64,
    has_failed: bool,
}

impl ImportSummary {
    /// Adds the sessions and notes of a file. `path` is given where there are several files, so that notes name theirs.
    pub fn add(
        &mut self,
        path: Option<&Path>,
        notes: &[CarriedProblem],
        sessions: Vec<ImportedSession>,
    ) {
        let problems = sessions.iter().flat_map(|session| &session.problems);
        let converted = problems.cloned().map(CarriedProblem::of_conversion);
        let place = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
        let all = notes.iter().cloned().chain(converted);
        self.notes.extend(all.map(|problem| format!("{place}{problem}")));
        self.sessions.extend(sessions);
    }

    /// Reports a file that cannot be imported. The import of the others goes on.
    pub fn fail(&mut self, error: &CommandError, output: &Output) {
        output.error(error);
        self.has_failed = true;
    }

    /// Prints the notes, the table of sessions and the sum.
    pub fn tell(&self, json: bool, output: &Output) -> Result<(), CommandError> {
        self.warn(output);
        if json {
            output.stdout(pretty(&self.sessions.iter().map(to_json).collect::<Vec<_>>())?)?;
        } else if !self.sessions.is_empty() {
            output.stdout(self.table().render(&output.stdout_style(), 0))?;
        }
        if !json || self.no_transcripts > 0 {
            output.stderr(&format!("{}\n", self.sum()));
        }
        if self.has_failed { Err(CommandError::silent(1)) } else { Ok(()) }
    }

    fn warn(&self, output: &Output) {
        let style = output.stderr_style();
        for text in self.notes.iter().take(SHOWN) {
            output.stderr(&format!("{} {text}\n", style.paint(OutputColor::Yellow, "note:")));
        }
        if let Some(more) = self.notes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            output.stderr(&format!("and {}\n", plural(more as u64, "more note")));
        }
    }

    fn table(&self) -> TextTable<5> {
        let table = TextTable::new(["id", "messages", "new", "tokens", "format"]).right([1, 2, 3]);
        let mut table = table.color(0, OutputColor::Bold);
        for ImportedSession { id, messages, new, dialect, tokens, .. } in &self.sessions {
            table.row([
                id.clone(),
                number(*messages),
                number(*new),
                number(*tokens),
                (*dialect).to_owned(),
            ]);
        }
        table
    }

    fn sum(&self) -> String {
        let created = self.sessions.iter().filter(|session| session.is_made).count() as u64;
        let new: u64 = self.sessions.iter().map(|session| session.new).sum();
        let text = match (created, new) {
            _ if self.sessions.is_empty() => "nothing was imported".to_owned(),
            (0, 0) => "nothing new: all of it was there already".to_owned(),
            (0, new) => format!("{} added", plural(new, "message")),
            (created, new) => {
                format!("{} made, {}", plural(created, "session"), plural(new, "message"))
            }
        };
        match self.no_transcripts {
            0 => text,
            1 => format!("{text}; 1 file holds no transcript"),
            many => format!("{text}; {} files hold no transcript", number(many)),
        }
    }
}
