//! What programs of a shell do: `data/programs.toml`.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

/// Programs by what they do.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Programs {
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
}

/// The file is part of the program, and a test reads it.
static PROGRAMS: LazyLock<Programs> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/programs.toml")).unwrap_or_default());

/// The programs that are known.
pub(crate) fn programs() -> &'static Programs {
    &PROGRAMS
}

#[cfg(test)]
mod tests {
    use super::programs;

    #[test]
    fn the_file_is_read() {
        let known = programs();
        assert!(known.idle.contains("echo") && known.showing["git"].contains("ls-files"));
    }
}
