//! Turns a call that changed files into a deed.

use crate::recap::deed::{CallSubject, Deed, DeedKind, DeedPart, FileEdit, PartKind};
use crate::recap::deeds::{CallDeeds, DeedOutcome};
use crate::tools::{ChangeLine, ChangedFiles, FileChange, ToolKind};

/// At most this many lines of one change are kept.
const CHANGED_LINES: usize = 256;

impl CallDeeds<'_, '_> {
    /// Adds a change of files: notes each file, settles failed changes of it, and adds the changed lines.
    pub(super) fn note_changed(
        &mut self,
        end: &DeedOutcome<'_>,
        changed: ChangedFiles<'_>,
        change: &FileChange,
    ) {
        let replaces = || change.lines.iter().any(|line| matches!(line, ChangeLine::Replaced(..)));
        let in_place = || end.command.steps.iter().any(|step| step.run.key() == "sed");
        let there = self.facts.kind == ToolKind::Edit || replaces() || in_place();
        let removes_first =
            end.command.steps.first().is_some_and(|step| matches!(step.run.key(), "rm" | "git rm"));
        for path in changed.paths() {
            let known = self.gathered.files.contains_key(path);
            self.gathered.use_file(path, true, Some(end.message));
            // A file that the same call made before it removed it did not exist before.
            let removed = removes_first && self.facts.removes.contains(path);
            if !known && (removed || there && change.whole.is_none()) {
                self.gathered.was_there(path);
            }
        }
        self.gathered.settle(end.message, |open| {
            open.path.as_ref().is_some_and(|path| changed.paths().contains(path))
        });
        for path in &self.facts.removes {
            self.gathered.remove_file(path);
        }
        let is_there = |path: &&String| !self.facts.removes.contains(path);
        let written: Vec<String> = changed.paths().iter().filter(is_there).cloned().collect();
        let removed = written.is_empty();
        let command = match &end.subject {
            CallSubject::Command(text) if change.lines.is_empty() && !removed => Some(text.clone()),
            _ => None,
        };
        let edit = FileEdit {
            written: change.whole.filter(|_| written.len() == 1),
            files: if removed { self.facts.removes.clone() } else { written },
            removed,
            edits: 1,
            last: end.message,
            command,
        };
        let lines = change.lines.iter().take(CHANGED_LINES).map(line_part).collect();
        self.gathered.push(Deed::new(end.message, DeedKind::Change(edit), lines));
    }
}

/// A changed line as a part of a deed.
fn line_part(line: &ChangeLine) -> DeedPart {
    match line {
        ChangeLine::Added(text) => DeedPart::new(text, PartKind::NewLine(String::new())),
        ChangeLine::Replaced(text, was) => DeedPart::new(text, PartKind::NewLine(was.clone())),
        ChangeLine::Removed(text) => DeedPart::new(text, PartKind::OldLine),
    }
}
