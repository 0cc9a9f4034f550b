//! Checks of the work: commands whose last outcome is part of its state. A build that fails is no
//! state any more once the same program passed over at least as much.

use rustc_hash::FxHashSet;

use crate::tools::programs::programs;

/// The last outcome of a command that checks the work: a build, a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The command on one line.
    pub command: String,
    /// Number of the message that ran it last.
    pub message: u32,
    /// It passed then.
    pub passed: bool,
    /// The line that says most.
    pub telling: String,
    /// It ran more than once, or failed before: somebody watches it.
    pub watched: bool,
}

impl Check {
    /// Whether this one passed after `failed` did not, over at least as much: `pytest -q` settles
    /// `pytest -x -k parser`, and not the other way round.
    #[must_use]
    pub fn settles(&self, failed: &Self) -> bool {
        self.passed && self.message > failed.message && covers(&self.command, &failed.command)
    }
}

/// Whether a run of `whole` says something of `part`: the same program, with no argument beside
/// flags that the other has not.
#[must_use]
pub fn covers(whole: &str, part: &str) -> bool {
    let (whole, part) = (Run::of(whole), Run::of(part));
    !whole.program.is_empty() && whole.program == part.program && whole.over.is_subset(&part.over)
}

/// A command, as far as it is compared.
struct Run<'a> {
    program: Vec<&'a str>,
    over: FxHashSet<&'a str>,
}

impl<'a> Run<'a> {
    fn of(command: &'a str) -> Self {
        let segments = command.split("&&").flat_map(|part| part.split(';'));
        let prepares = |part: &&str| {
            part.split_whitespace().next().is_none_or(|word| programs().prepares.contains(word))
        };
        let part = segments.filter(|part| !prepares(part)).last().unwrap_or_default();
        let part = part.split(['|', '>']).next().unwrap_or_default().trim_end_matches(" 2");
        let mut words = part.split_whitespace().filter(|word| !word.contains('=')).peekable();
        while words.next_if(|word| programs().runners.contains(*word)).is_some() {}
        let mut program: Vec<&str> = words.next().into_iter().collect();
        let interprets =
            program.first().is_some_and(|word| programs().interpreters.contains(*word));
        if interprets && words.next_if(|word| *word == "-m").is_some() {
            program = words.next().into_iter().collect();
        } else if interprets {
            program.extend(words.next());
        }
        // `cargo test`, `npm run check`, `ruff check`.
        let verb = |word: &&str| {
            word.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b':'))
                && !word.starts_with('-')
        };
        for _ in 0..2 {
            if program.len() == 1 || program.last() == Some(&"run") {
                program.extend(words.next_if(verb));
            }
        }
        let over = words.filter(|word| !word.starts_with('-')).collect();
        Self { program, over }
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_run_over_as_much_settles_a_failure() {
        for (whole, part) in [
            ("pytest -q", "pytest -x -q -k test_parser"),
            ("cd a && npm run check 2>&1 | tail -3", "cd a && npm run check"),
            ("sqlfluff fix t.sql --dialect ansi -f", "python -m sqlfluff fix t.sql --dialect ansi"),
            ("cargo test", "cargo test -p core parser"),
            ("venv=1 ruff check", "ruff check src"),
        ] {
            assert!(covers(whole, part), "{whole} / {part}");
        }
        for (whole, part) in [
            ("pytest -k a", "pytest -k b"),
            ("npm run build", "npm run check"),
            ("python a.py", "python b.py"),
            ("cargo build", "cargo test"),
            ("", ""),
        ] {
            assert!(!covers(whole, part), "{whole} / {part}");
        }
    }
}
