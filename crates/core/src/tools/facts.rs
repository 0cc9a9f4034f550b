//! What a tool does, and what one call of it did.

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
    /// The name as it is in policies.
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

/// What one call did, as far as its arguments tell for certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// What the tool does, for this call.
    pub kind: ToolKind,
    /// Files that it shows, as written in the call.
    pub reads: Vec<String>,
    /// Files that it writes, changes, moves or deletes, as written in the call.
    pub writes: Vec<String>,
    /// Those of them that it removes.
    pub removes: Vec<String>,
    /// The command or program that it runs.
    pub command: Option<String>,
    /// That is a program in another language, and no shell command.
    pub is_code: bool,
    /// What it looks for: pattern, URL, folder of a listing.
    pub query: Option<String>,
    /// First line and number of lines, for a read that shows a part; `u64::MAX` lines reach to
    /// the end, and (0, 0) is a part of unknown extent. None for whole files.
    pub range: Option<(u64, u64)>,
}

/// The files that a call changes: there is at least one, so a change without a name cannot be told.
#[derive(Clone, Copy, Debug)]
pub struct ChangedFiles<'a> {
    paths: &'a [String],
}

impl<'a> ChangedFiles<'a> {
    /// Their names, as written in the call; never empty.
    #[must_use]
    pub fn paths(self) -> &'a [String] {
        self.paths
    }
}

impl CallFacts {
    /// The files that the call changes, if it changes any.
    #[must_use]
    pub fn changed(&self) -> Option<ChangedFiles<'_>> {
        (!self.writes.is_empty()).then_some(ChangedFiles { paths: &self.writes })
    }
}
