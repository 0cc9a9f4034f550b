//! What a failure says is not there, and can be installed: a module, a package, a program.

use serde::Deserialize;

/// What stands around its name, as `data/outcomes.toml` has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissingProgram {
    names: Vec<(String, String)>,
    ends: Vec<String>,
}

impl MissingProgram {
    /// The name in a line, as packages are named: `tests.settings` is in `tests`, `@a/b/c` in `@a/b`. A
    /// file of the project is no package.
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

/// The package that a module or a program is in.
fn package(name: &str) -> Option<String> {
    let name = name.trim_matches(['\'', '"', '`', ';', ',', '.']);
    let mut parts = name.split('/');
    let first = parts.next().filter(|first| !first.is_empty() && !first.starts_with('.'))?;
    let name = match (first.strip_prefix('@'), parts.next()) {
        (Some(_), Some(second)) => format!("{first}/{second}"),
        // A module of Go's is known by its whole path.
        (None, Some(_)) if first.contains('.') => name.to_owned(),
        _ => {
            first.split("::").next().unwrap_or(first).split('.').next().unwrap_or(first).to_owned()
        }
    };
    Some(name.to_ascii_lowercase().replace('_', "-"))
}
