//! Finds the name of a missing module, package or program in a failure, because an installation can settle it.

use serde::Deserialize;

/// The texts around a missing name, as `data/outcomes.toml` has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissingProgram {
    /// Pairs of the text before a name and the text behind it.
    names: Vec<(String, String)>,
    ends: Vec<String>,
}

impl MissingProgram {
    /// The missing package that a line names: `tests.settings` is in `tests`, and `@a/b/c` in `@a/b`. `None` for any
    /// other line, and for files of the project.
    pub(super) fn of(&self, line: &str) -> Option<String> {
        let named = self.names.iter().find_map(|(before, behind)| {
            let (_, rest) = line.split_once(&**before)?;
            let end = if behind.is_empty() { rest.find(' ') } else { rest.find(&**behind) };
            Some(&rest[..end.unwrap_or(rest.len())])
        });
        let ended = || {
            let before = self.ends.iter().find_map(|end| line.strip_suffix(&**end))?;
            before.rsplit([' ', ':']).next()
        };
        package(named.or_else(ended)?)
    }
}

/// The package of a module or program; `None` for a path.
fn package(name: &str) -> Option<String> {
    let name = name.trim_matches(['\'', '"', '`', ';', ',', '.']);
    let mut parts = name.split('/');
    let first = parts.next().filter(|first| !first.is_empty() && !first.starts_with('.'))?;
    let name = match (first.strip_prefix('@'), parts.next()) {
        (Some(_), Some(second)) => format!("{first}/{second}"),
        // A Go module is known by its whole path.
        (None, Some(_)) if first.contains('.') => name.to_owned(),
        _ => {
            first.split("::").next().unwrap_or(first).split('.').next().unwrap_or(first).to_owned()
        }
    };
    Some(name.to_ascii_lowercase().replace('_', "-"))
}
