//! Checks of the work: commands such as builds and test runs, whose newest verdict is part of the state of the
//! work. A newer verdict replaces an older one where it is of the same check and covers at least as much. A pipe
//! behind the command makes no difference.

use smallvec::SmallVec;

use crate::tools::command::{CommandDeeds, CommandPurpose, CommandRun};

/// The newest verdict of a command that checks the work, such as a build or a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The command on one line.
    pub command: String,
    /// Number of the message in which it ran last.
    pub message: u32,
    /// Whether it passed then.
    pub passed: bool,
    /// The line of its output that says most; empty where there is none.
    pub telling: String,
    runs: SmallVec<[CommandRun; 1]>,
}

impl CheckResult {
    /// Reads the command, and makes its verdict.
    #[must_use]
    pub fn new(command: &str, message: u32, passed: bool, telling: &str) -> Self {
        let runs = runs_of(command);
        // The run knows its folder, so the command does not repeat it.
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

    /// Whether this verdict is no older than the other, and covers all its runs.
    #[must_use]
    pub fn supersedes(&self, other: &Self) -> bool {
        self.message >= other.message && all_covered(&self.runs, &other.runs)
    }

    /// Whether the command runs several checks.
    pub(super) fn is_chain(&self) -> bool {
        self.runs.len() > 1
    }

    /// Whether each run of this verdict is covered by a run of one of the others.
    pub(super) fn each_covered<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> bool {
        let covered = |run: &CommandRun| {
            others.clone().any(|other| other.runs.iter().any(|whole| whole.covers(run)))
        };
        self.runs.iter().all(covered)
    }

    /// Whether the runs of this verdict cover all of these.
    pub(super) fn covers(&self, runs: &[CommandRun]) -> bool {
        all_covered(&self.runs, runs)
    }

    /// The runs that the verdict is about.
    pub(super) fn runs(&self) -> &[CommandRun] {
        &self.runs
    }

    /// Whether these runs cover all runs of this verdict.
    pub(super) fn is_covered(&self, runs: &[CommandRun]) -> bool {
        all_covered(runs, &self.runs)
    }

    /// The folder that it ran in; `None` where the command does not name one.
    #[must_use]
    pub fn folder(&self) -> Option<&str> {
        self.runs.first().and_then(CommandRun::folder)
    }
}

/// Whether each run of `part` is covered by a run of `whole`. Always false for an empty `part`, because nothing
/// would be proved.
pub(super) fn all_covered(whole: &[CommandRun], part: &[CommandRun]) -> bool {
    !part.is_empty() && part.iter().all(|one| whole.iter().any(|run| run.covers(one)))
}

/// The runs of a command that can pass or fail: its checks, or, where it has no checks, every step that is more
/// than a look-up, a preparation or an edit.
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
