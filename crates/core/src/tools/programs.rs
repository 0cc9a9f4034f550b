//! What shell programs do, as `data/programs.toml` has it.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

/// Programs, grouped by what they do.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramTable {
    /// Programs that do no work of their own.
    pub idle: FxHashSet<String>,
    /// Programs that show content, or a part of their input.
    pub shows: FxHashSet<String>,
    /// Programs among these, also with a subcommand, that show what holds now and not what files say.
    pub passing: FxHashSet<String>,
    /// Programs for which exit code 1 is an answer and no failure.
    pub answers: FxHashSet<String>,
    /// Programs that run the program behind them.
    pub runners: FxHashSet<String>,
    /// Flags of these, by the first word, that take the next word.
    pub runner_values: FxHashMap<String, FxHashSet<String>>,
    /// Programs that run the script that their first argument names.
    pub interpreters: FxHashSet<String>,
    /// Programs that only prepare the next command.
    pub prepares: FxHashSet<String>,
    /// Programs that only show something with one of these subcommands.
    pub showing: FxHashMap<String, FxHashSet<String>>,
    /// Programs that take a subcommand.
    pub subcommands: FxHashSet<String>,
    /// Package managers, which run scripts that a project names.
    pub managers: FxHashSet<String>,
    /// Programs that run targets which a project names, as in `make test`.
    pub targets: FxHashSet<String>,
    /// Flags of checks that do not change what is checked.
    pub neutral: Vec<String>,
    /// Flags of checks that narrow what is checked, and take a value.
    pub narrowing: FxHashSet<String>,
    /// Programs that check the work.
    pub checks: ProgramKinds,
    /// Words in the names of scripts that suggest a check.
    pub names: ProgramKinds,
    /// Programs that rewrite files.
    pub formats: RewritingPrograms,
    /// Programs that install something.
    pub installs: NamedPrograms,
    /// The packages of modules, where the two have different names.
    pub modules: FxHashMap<String, String>,
    /// Programs that change files.
    pub edits: NamedPrograms,
    /// Folders whose files are no part of the work.
    pub places: KnownFolders,
}

/// Programs, or words in names, grouped by the kind of check.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramKinds {
    pub test: FxHashSet<String>,
    pub lint: FxHashSet<String>,
    pub types: FxHashSet<String>,
    pub build: FxHashSet<String>,
}

/// Programs that rewrite files, and the flags with which they only check.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewritingPrograms {
    pub programs: FxHashSet<String>,
    /// The flags.
    pub checking: FxHashSet<String>,
}

/// Programs, some of them with a subcommand.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedPrograms {
    pub programs: FxHashSet<String>,
}

/// Folders outside the work.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownFolders {
    /// Beginnings of temporary paths.
    pub scratch: Vec<String>,
    /// Folders that make a path temporary wherever they occur in it.
    pub folders: Vec<String>,
    /// Folders in which agents keep their own notes.
    pub aside: Vec<String>,
}

impl ProgramTable {
    /// Whether a program that only shows something shows files, lines of them, or their names. `both` is the program
    /// with its subcommand.
    pub(crate) fn shows_files(&self, program: &str, both: &str) -> bool {
        let shows = self.shows.contains(program) || self.showing.contains_key(program);
        shows && !self.passing.contains(program) && !self.passing.contains(both)
    }
}

impl KnownFolders {
    /// Whether a file is no part of the work: it is in a temporary folder, or among the notes that an agent keeps.
    pub(crate) fn is_aside(&self, path: &str) -> bool {
        let within = |folders: &[String]| folders.iter().any(|folder| path.contains(&**folder));
        self.is_scratch(path) || within(&self.aside)
    }

    /// Whether a path is in a temporary folder.
    pub(crate) fn is_scratch(&self, path: &str) -> bool {
        self.scratch.iter().any(|start| path.starts_with(&**start))
            || self.folders.iter().any(|folder| path.contains(&**folder))
    }
}

impl ProgramKinds {
    /// The kind of check of a program or word; `None` where it is unknown.
    pub(crate) fn of(&self, name: &str) -> Option<super::command::purpose::CheckKind> {
        use super::command::purpose::CheckKind;
        let all = [
            (&self.test, CheckKind::Test),
            (&self.lint, CheckKind::Lint),
            (&self.types, CheckKind::Types),
            (&self.build, CheckKind::Build),
        ];
        all.into_iter().find_map(|(names, kind)| names.contains(name).then_some(kind))
    }
}

/// The table, read once. The file is compiled in and a test reads it, so it is never broken.
static PROGRAMS: LazyLock<ProgramTable> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/programs.toml")).unwrap_or_default());

/// The table of known programs.
pub(crate) fn programs() -> &'static ProgramTable {
    &PROGRAMS
}

#[cfg(test)]
mod tests {
    use super::programs;

    #[test]
    fn the_file_is_read() {
        let known = programs();
        assert!(known.idle.contains("echo") && known.showing["git"].contains("ls-files"));
        assert!(known.checks.test.contains("pytest") && !known.places.scratch.is_empty());
    }
}
