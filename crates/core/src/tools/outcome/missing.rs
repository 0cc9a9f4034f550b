//! Finds the name of a missing module, package or program in a failure, because an installation can settle it.

use serde::Deserialize;

/// The texts around a missing name, as `data/outcomes.toml` has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissingProgram {
    /// The text before a name, the text behind it, and the language of the package.
    names: Vec<(String, String, String)>,
    ends: Vec<String>,
}

/// A package that a failure lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingPackage {
    pub name: String,
    /// The language whose packages have it; empty for a program, which may come from anywhere.
    pub language: &'static str,
}

impl MissingProgram {
    /// The missing package that a line names: `tests.settings` is in `tests`, and `@a/b/c` in `@a/b`. `None` for any
    /// other line, and for files of the project.
    pub(super) fn of(&'static self, line: &str) -> Option<MissingPackage> {
        let named = self.names.iter().find_map(|(before, behind, language)| {
            let (_, rest) = line.split_once(&**before)?;
            let end = if behind.is_empty() { rest.find(' ') } else { rest.find(&**behind) };
            Some((&rest[..end.unwrap_or(rest.len())], &**language))
        });
        let ended = || {
            let before = self.ends.iter().find_map(|end| line.strip_suffix(&**end))?;
            Some((before.rsplit([' ', ':']).next()?, ""))
        };
        let (name, language) = named.or_else(ended)?;
        Some(MissingPackage { name: package(name)?, language })
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
