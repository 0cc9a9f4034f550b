//! What programs of a shell do: `data/programs.toml`.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

/// Programs by what they do.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramTable {
    /// Do no work of their own.
    pub idle: FxHashSet<String>,
    /// Show content, or a part of what they are given.
    pub shows: FxHashSet<String>,
    /// Exit with 1 for an answer.
    pub answers: FxHashSet<String>,
    /// Run the program behind them.
    pub runners: FxHashSet<String>,
    /// Run the program that their first argument names.
    pub interpreters: FxHashSet<String>,
    /// Only prepare the command behind them.
    pub prepares: FxHashSet<String>,
    /// Only show with these words behind them.
    pub showing: FxHashMap<String, FxHashSet<String>>,
    /// Take a subcommand.
    pub subcommands: FxHashSet<String>,
    /// Run what a project names.
    pub managers: FxHashSet<String>,
    /// The same, named as a target: `make test`.
    pub targets: FxHashSet<String>,
    /// Flags of checks that do not change what is checked.
    pub neutral: Vec<String>,
    /// Flags of checks that take a word.
    pub narrowing: FxHashSet<String>,
    /// What checks the work.
    pub checks: ProgramKinds,
    /// Words of names that tell a check.
    pub names: ProgramKinds,
    /// Rewrite files.
    pub formats: RewritingPrograms,
    /// Install things.
    pub installs: NamedPrograms,
    /// Modules whose package has another name.
    pub modules: FxHashMap<String, String>,
    /// Change files.
    pub edits: NamedPrograms,
    /// Where files are no part of the work.
    pub places: KnownFolders,
}

/// Programs, or words of names, by what they check.
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
    pub checking: FxHashSet<String>,
}

/// Programs, some with a subcommand.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedPrograms {
    pub programs: FxHashSet<String>,
}

/// Folders.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownFolders {
    /// How a temporary path begins.
    pub scratch: Vec<String>,
    /// Folders in a temporary path.
    pub folders: Vec<String>,
    /// Folders for notes of the agent's own.
    pub aside: Vec<String>,
}

impl KnownFolders {
    /// Whether a file is no part of the work: it lies in a temporary folder, or among the notes that
    /// an agent keeps of its plans.
    pub(crate) fn is_aside(&self, path: &str) -> bool {
        let within = |folders: &[String]| folders.iter().any(|folder| path.contains(&**folder));
        self.is_scratch(path) || within(&self.aside)
    }

    /// Whether a path lies in a temporary folder.
    pub(crate) fn is_scratch(&self, path: &str) -> bool {
        self.scratch.iter().any(|start| path.starts_with(&**start))
            || self.folders.iter().any(|folder| path.contains(&**folder))
    }
}

impl ProgramKinds {
    /// Of which kind a name is.
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

/// The file is part of the program, and a test reads it.
static PROGRAMS: LazyLock<ProgramTable> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/programs.toml")).unwrap_or_default());

/// The programs that are known.
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
