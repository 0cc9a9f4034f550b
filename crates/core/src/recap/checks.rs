//! Checks of the work: commands whose newest verdict is part of its state. A verdict is no state any
//! more once a newer one covers it: of the same check, behind whatever pipe, over at least as much.

use smallvec::SmallVec;

use crate::tools::command::{CommandDeeds, CommandPurpose, CommandRun};

/// The newest verdict of a command that checks the work: a build, a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The command on one line.
    pub command: String,
    /// Number of the message that ran it last.
    pub message: u32,
    /// It passed then.
    pub passed: bool,
    /// The line that says most.
    pub telling: String,
    runs: SmallVec<[CommandRun; 1]>,
}

impl CheckResult {
    /// The verdict of a command.
    #[must_use]
    pub fn new(command: &str, message: u32, passed: bool, telling: &str) -> Self {
        let runs = runs_of(command);
        // The folder is told by the run.
        let inside = command.strip_prefix("cd ").and_then(|rest| rest.split_once(" && "));
        let command = inside.map_or(command, |(_, command)| command);
        Self::of(command.to_owned(), runs, message, passed, telling)
    }

    pub(super) fn of(
        command: String,
        runs: SmallVec<[CommandRun; 1]>,
        message: u32,
        passed: bool,
        telling: &str,
    ) -> Self {
        Self { command, message, passed, telling: telling.to_owned(), runs }
    }

    /// Whether this one says at least as much, and later.
    #[must_use]
    pub fn supersedes(&self, other: &Self) -> bool {
        self.message >= other.message && all_covered(&self.runs, &other.runs)
    }

    /// Whether it is of several checks at once.
    pub(super) fn is_chain(&self) -> bool {
        self.runs.len() > 1
    }

    /// Whether others together say as much.
    pub(super) fn each_covered<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> bool {
        let covered = |run: &CommandRun| {
            others.clone().any(|other| other.runs.iter().any(|whole| whole.covers(run)))
        };
        self.runs.iter().all(covered)
    }

    /// Whether it says something of these.
    pub(super) fn covers(&self, runs: &[CommandRun]) -> bool {
        all_covered(&self.runs, runs)
    }

    /// What it ran.
    pub(super) fn runs(&self) -> &[CommandRun] {
        &self.runs
    }

    /// Whether these say as much.
    pub(super) fn is_covered(&self, runs: &[CommandRun]) -> bool {
        all_covered(runs, &self.runs)
    }

    /// The folder that it ran in, as far as that is told.
    #[must_use]
    pub fn folder(&self) -> Option<&str> {
        self.runs.first().and_then(CommandRun::folder)
    }
}

/// Whether each of the runs is covered by one of the others.
pub(super) fn all_covered(whole: &[CommandRun], part: &[CommandRun]) -> bool {
    !part.is_empty() && part.iter().all(|one| whole.iter().any(|run| run.covers(one)))
}

/// What a command runs that can end well or badly: its checks, or where it has none what else it does
/// beside looking and preparing.
pub(super) fn runs_of(command: &str) -> SmallVec<[CommandRun; 1]> {
    let read = CommandDeeds::of(command);
    let checks: SmallVec<[CommandRun; 1]> = read.checks().map(|step| step.run.clone()).collect();
    if !checks.is_empty() {
        return checks;
    }
    let works = read.steps.iter().filter(|step| {
        !matches!(
            step.purpose,
            CommandPurpose::Prepare | CommandPurpose::LookUp | CommandPurpose::Edit
        ) && step.script.is_none()
    });
    works.map(|step| step.run.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::{all_covered, runs_of};

    fn covers(whole: &str, part: &str) -> bool {
        all_covered(&runs_of(whole), &runs_of(part))
    }

    #[test]
    fn a_run_over_as_much_settles_a_failure() {
        for (whole, part) in [
            ("pytest -q", "pytest -x -q -k test_parser"),
            ("cd a && npm run check 2>&1 | tail -3", "cd a && npm run check"),
            ("cargo test", "cargo test -p core parser"),
            ("venv=1 ruff check", "ruff check src"),
            ("make fmt && make lint", "make lint"),
            ("git push", "git push origin main"),
        ] {
            assert!(covers(whole, part), "{whole} / {part}");
        }
        for (whole, part) in [
            ("pytest -k a", "pytest -k b"),
            ("npm run build", "npm run check"),
            ("python a.py", "python b.py"),
            ("cargo build", "cargo test"),
            ("make lint", "make fmt && make lint"),
            ("ls", "ls"),
            ("", ""),
        ] {
            assert!(!covers(whole, part), "{whole} / {part}");
        }
    }
}
