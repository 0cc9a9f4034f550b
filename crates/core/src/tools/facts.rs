//! The kinds of tools, and what one call of a tool did.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

/// What a tool does.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Shows a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Looks for text or names.
    Search,
    /// Lists a folder.
    List,
    /// Runs a command or a program.
    Shell,
    /// Fetches or searches the web, drives a browser.
    Web,
    /// Hands work to another agent.
    Task,
    /// Keeps the list of what is to be done.
    Todo,
    /// Anything else, and every unknown tool.
    #[default]
    Other,
}

impl ToolKind {
    /// The name of the kind, as policies write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Search => "search",
            Self::List => "list",
            Self::Shell => "shell",
            Self::Web => "web",
            Self::Task => "task",
            Self::Todo => "todo",
            Self::Other => "other",
        }
    }
}

/// The effects of one call, as far as its arguments prove them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// The kind of the tool in this call.
    pub kind: ToolKind,
    /// The files that it shows, as written in the call.
    pub reads: Vec<String>,
    /// The files that it writes, changes, moves or deletes, as written in the call.
    pub writes: Vec<String>,
    /// The files among `writes` that it removes.
    pub removes: Vec<String>,
    /// The command or program that it runs; `None` where it runs none.
    pub command: Option<String>,
    /// Whether `command` is a program in another language instead of a shell command.
    pub is_code: bool,
    /// The pattern or URL that it looks for, or the folder that it lists.
    pub query: Option<String>,
    /// The first line and the number of lines of a partial read. `u64::MAX` lines reach to the end of the file, and
    /// (0, 0) is a part of unknown extent. `None` for whole files.
    pub range: Option<(u64, u64)>,
}

/// The files that a call changes. There is at least one, so a reported change always names a file.
#[derive(Clone, Copy, Debug)]
pub struct ChangedFiles<'a> {
    paths: &'a [String],
}

impl<'a> ChangedFiles<'a> {
    /// The names of the files, as written in the call; never empty.
    #[must_use]
    pub fn paths(self) -> &'a [String] {
        self.paths
    }

    /// The file that this text of the client names; the first one where it names no such file.
    #[must_use]
    pub fn named_in(self, text: &str) -> Option<String> {
        let plain = plain_separators(text);
        let named = self.paths.iter().filter(|path| names(&plain, &plain_separators(path)));
        // Of `data.py` and `lib/data.py` a text that names the second holds both.
        named.min_by_key(|path| Reverse(path.len())).or(self.paths.first()).cloned()
    }
}

/// A text with `/` between the parts of its paths, also where a client escaped `\`.
fn plain_separators(text: &str) -> String {
    text.replace('\\', "/").replace("//", "/")
}

/// Whether a text names this path, and no longer name that holds it.
fn names(text: &str, path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !path.is_empty()
        && text.match_indices(path).any(|(at, _)| {
            // A folder may stand before the path, but neither it nor an extension may end inside a name.
            let (before, behind) = (&text[..at], &text[at + path.len()..]);
            let behind = behind.strip_prefix('.').unwrap_or(behind);
            !before.ends_with(|c| is_inside(c) || c == '.')
                && !behind.starts_with(|c| is_inside(c) || c == '/')
        })
}

impl CallFacts {
    /// The files that the call changes; `None` where it changes none.
    #[must_use]
    pub fn changed(&self) -> Option<ChangedFiles<'_>> {
        (!self.writes.is_empty()).then_some(ChangedFiles { paths: &self.writes })
    }
}
