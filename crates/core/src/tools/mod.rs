//! The kinds of tools, and what one call of a tool did. The knowledge about tools is data; the code only reads it.
//!
//! The table ([`ToolTable::builtin`]) has the tools of known agents, and a policy may add to it. [`ToolTable::facts`]
//! reads the arguments of a call, and [`ToolTable::outcome`] its result. Both are conservative: an uncertain path is
//! left out.

mod answer;
mod args;
mod change;
pub(crate) mod code_mode;
pub(crate) mod command;
mod facts;
mod outcome;
mod patch;
pub(crate) mod programs;
mod pure_read;
pub(crate) mod shell;
mod shell_lexer;
mod todo;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

pub use answer::AnswerSource;
use args::CallArguments;
pub use change::{ChangeLine, FileChange};
pub use facts::{CallFacts, ChangedFiles, ToolKind};
pub use outcome::{CallFailure, CallResult, CallVerdict};
pub(crate) use outcome::{MissingPackage, missing_in, says_well};
pub(crate) use shell::unwrapped;
pub use todo::{TodoChange, TodoItem};

/// An entry of the table of tools: tools that work alike. A policy adds tools in the same form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    /// The names of the tools; `*` at the end of a name means any rest.
    pub names: Vec<String>,
    /// The kind of work that the tools do.
    pub kind: ToolKind,
    /// Arguments that hold the path of a file, or for a listing the path of the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "paths")]
    pub path_args: Vec<String>,
    /// Arguments that hold a shell command.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "commands")]
    pub command_args: Vec<String>,
    /// Arguments that hold a program in another language.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "code")]
    pub code_args: Vec<String>,
    /// Arguments that hold the text to search for.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "queries")]
    pub query_args: Vec<String>,
    /// Arguments that hold a patch.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "patches")]
    pub patch_args: Vec<String>,
    /// Arguments that hold the first line of a partial read.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "offset")]
    pub offset_args: Vec<String>,
    /// Arguments that hold the number of lines of a partial read.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "limit")]
    pub limit_args: Vec<String>,
    /// Arguments that hold the last line of a partial read.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "end")]
    pub end_args: Vec<String>,
    /// Arguments that hold the first and the last line of a partial read, as a pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "range")]
    pub range_args: Vec<String>,
    /// Whose words the results of the tools hold.
    #[serde(default, skip_serializing_if = "AnswerSource::is_nobody")]
    pub answers: AnswerSource,
    /// The argument whose value decides the kind; left out if no argument does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolMode>,
}

/// The form in which a policy adds tools.
pub type ToolEntry = ToolDefinition;

/// An argument whose value decides what a tool does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolMode {
    /// The name of the argument.
    pub arg: String,
    /// The kind of the tool for each value of the argument.
    pub kinds: BTreeMap<String, ToolKind>,
}

/// The table of tools.
#[derive(Clone, Debug)]
pub struct ToolTable {
    tools: Vec<ToolDefinition>,
    /// Index of a tool by its exact name.
    exact: FxHashMap<String, usize>,
    /// Index of a tool by its name in folded form: lower case, without punctuation.
    folded: FxHashMap<String, usize>,
    /// Beginnings of the names that end in `*`, in folded form, each with its index in `tools`.
    prefixes: Vec<(String, usize)>,
    /// The entry for every unknown tool.
    unknown: ToolDefinition,
}

/// The content of `data/tools.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    tool: Vec<ToolDefinition>,
}

/// The table of known tools, read at its first use.
static BUILTIN: LazyLock<ToolTable> = LazyLock::new(|| {
    // The file is compiled in and a test reads it, so it is never broken.
    let tools =
        toml::from_str(include_str!("../../data/tools.toml")).map(|file: ToolFile| file.tool);
    ToolTable::new(tools.unwrap_or_default())
});

impl ToolTable {
    /// The tools of known agents.
    #[must_use]
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// The table for a policy: the known tools, with the policy's own entries before them.
    #[must_use]
    pub fn of(more: &[ToolEntry]) -> Cow<'static, Self> {
        let builtin = Self::builtin();
        if more.is_empty() { Cow::Borrowed(builtin) } else { Cow::Owned(builtin.extended(more)) }
    }

    /// This table with more entries, which have priority over its own.
    #[must_use]
    pub fn extended(&self, more: &[ToolEntry]) -> Self {
        // The first entry with a name counts, so those of the policy come first.
        Self::new(more.iter().chain(&self.tools).cloned().collect())
    }

    /// A table in which a tool has priority over those behind it.
    fn new(tools: Vec<ToolDefinition>) -> Self {
        let (mut exact, mut folded) = (FxHashMap::default(), FxHashMap::default());
        let mut prefixes = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            for name in &tool.names {
                if let Some(prefix) = name.strip_suffix('*') {
                    prefixes.push((fold(prefix), at));
                } else {
                    exact.entry(name.clone()).or_insert(at);
                    folded.entry(fold(name)).or_insert(at);
                }
            }
        }
        let unknown = ToolDefinition {
            path_args: ["file_path", "path", "filePath"].map(str::to_owned).into(),
            query_args: ["query", "pattern", "url"].map(str::to_owned).into(),
            ..ToolDefinition::default()
        };
        Self { tools, exact, folded, prefixes, unknown }
    }

    /// The tool with this name. The exact name comes first, then the name without case and punctuation, then the name
    /// without the prefix of a server or namespace (`mcp__fs__read_file`, `functions.shell`). An unknown name gives a
    /// generic tool.
    #[must_use]
    pub fn lookup(&self, name: &str) -> &ToolDefinition {
        let name = name.trim();
        let at = self
            .exact
            .get(name)
            .copied()
            .or_else(|| self.by_fold(name))
            .or_else(|| self.by_fold(without_server(name)));
        at.and_then(|at| self.tools.get(at)).unwrap_or(&self.unknown)
    }

    /// Index of the tool with this name in folded form, or else the first one with a known beginning of it.
    fn by_fold(&self, name: &str) -> Option<usize> {
        let name = fold(name);
        let starting = || self.prefixes.iter().find(|(prefix, _)| name.starts_with(&**prefix));
        self.folded.get(&name).copied().or_else(|| starting().map(|&(_, at)| at))
    }

    /// The effects of a call. `args` is the decoded text of its arguments: a JSON object or plain text. Of broken
    /// JSON, the part before the break is read.
    #[must_use]
    pub fn facts(&self, name: &str, args: &str) -> CallFacts {
        let arguments = CallArguments::read(args);
        let tool = self.lookup_with(name, &arguments);
        let mut facts = CallFacts { kind: kind_of(tool, &arguments), ..CallFacts::default() };
        facts.query = arguments.first(&tool.query_args);
        let paths = arguments.all(&tool.path_args);
        match facts.kind {
            ToolKind::Read => {
                facts.reads = paths;
                facts.range = range_of(tool, &arguments);
            }
            ToolKind::Write | ToolKind::Edit => facts.writes = paths,
            ToolKind::List => facts.query = paths.into_iter().next().or(facts.query),
            _ => {}
        }
        self.add_patches(tool, &arguments, &mut facts);
        add_command(tool, &arguments, &mut facts);
        dedup(&mut facts.reads);
        dedup(&mut facts.writes);
        facts
    }

    /// The tool with this name. An unknown tool with a command as its argument counts as a shell.
    fn lookup_with(&self, name: &str, arguments: &CallArguments<'_>) -> &ToolDefinition {
        const COMMAND: [&str; 2] = ["command", "cmd"];
        let tool = self.lookup(name);
        let unknown = std::ptr::eq(tool, &self.unknown);
        // A tool that takes a command runs it, whatever its name is.
        if unknown && arguments.first(&COMMAND.map(str::to_owned)).is_some() {
            return self.lookup("Bash");
        }
        tool
    }

    fn add_patches(
        &self,
        tool: &ToolDefinition,
        arguments: &CallArguments<'_>,
        facts: &mut CallFacts,
    ) {
        for text in arguments.all(&tool.patch_args) {
            facts.writes.extend(patch::paths(&text));
        }
        // The patch may be the whole argument, without JSON around it.
        if let (Some(text), false) = (arguments.plain(), tool.patch_args.is_empty()) {
            facts.writes.extend(patch::paths(text));
        }
    }

    /// The outcome of a call: how it ended, its exit code, its size, and the line that says most. `flagged` is the
    /// error flag of the result block, or `None` where it has none.
    #[must_use]
    pub fn outcome(&self, facts: &CallFacts, result: &str, flagged: Option<bool>) -> CallResult {
        outcome::read(facts, result, flagged, false)
    }

    /// The outcome of a call, where the client flags each command that does not exit with 0. So a command without a
    /// flag exited with 0.
    pub(crate) fn outcome_unless_flagged(
        &self,
        facts: &CallFacts,
        result: &str,
        flagged: Option<bool>,
    ) -> CallResult {
        outcome::read(facts, result, flagged, true)
    }

    /// Whether a result may hold words of the user, who gave them instead of allowing the call.
    pub(crate) fn may_hold_reason(&self, result: &str) -> bool {
        outcome::may_hold_reason(result)
    }

    /// The lines that may say why a call failed, from the first `bytes` bytes of its result.
    pub(crate) fn telling_lines(&self, result: &str, bytes: usize) -> Vec<String> {
        outcome::telling_lines(result, bytes)
    }

    /// The lines in the first `bytes` bytes of a result that say something, as a reader sees them: without colours and
    /// without the wrapping that harnesses add.
    #[must_use]
    pub fn shown(&self, result: &str, bytes: usize) -> Vec<String> {
        self.first_shown(result, bytes, usize::MAX)
    }

    /// The first `lines` of the lines that [`ToolTable::shown`] gives.
    #[must_use]
    pub fn first_shown(&self, result: &str, bytes: usize, lines: usize) -> Vec<String> {
        outcome::shown(result, bytes, lines)
    }
}

/// The texts of the members with these names in a JSON object, at any depth, in the order of the names. Numbers and
/// empty texts are left out.
pub(crate) fn texts_of(json: &str, names: &[&str]) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut texts = CallArguments::read(json).all(&names);
    texts.retain(|text| !text.is_empty());
    texts
}

/// The kind of a call: that of its mode, or else that of its tool.
fn kind_of(tool: &ToolDefinition, arguments: &CallArguments<'_>) -> ToolKind {
    let Some(mode) = &tool.mode else { return tool.kind };
    let value = arguments.first(std::slice::from_ref(&mode.arg));
    value.and_then(|value| mode.kinds.get(&value).copied()).unwrap_or(tool.kind)
}

/// Adds the command or program that a call runs, with the files that it reads and writes.
fn add_command(tool: &ToolDefinition, arguments: &CallArguments<'_>, facts: &mut CallFacts) {
    let runs = !tool.command_args.is_empty() || !tool.code_args.is_empty();
    let plain = || arguments.plain().filter(|_| runs).map(str::to_owned);
    if !tool.command_args.is_empty() {
        facts.command = arguments.command(&tool.command_args).or_else(plain);
        if let Some(command) = &facts.command {
            let touched = shell::read(command);
            facts.reads.extend(touched.reads);
            facts.writes.extend(touched.writes);
            facts.removes.extend(touched.removes);
            facts.range = facts.range.or(touched.range);
        }
    } else if runs {
        facts.command = arguments.first(&tool.code_args).or_else(plain);
        facts.is_code = true;
        let wrote = command::script::wrote(facts.command.as_deref().unwrap_or_default());
        facts.writes.extend(wrote.paths);
        facts.removes.extend(wrote.removed);
    }
}

/// First line and number of lines of a partial read; `None` for whole files.
fn range_of(tool: &ToolDefinition, arguments: &CallArguments<'_>) -> Option<(u64, u64)> {
    if let Some((first, last)) = arguments.pair(&tool.range_args) {
        let lines = u64::try_from(last).map_or(u64::MAX, |last| last.saturating_sub(first) + 1);
        return Some((first, lines));
    }
    let offset = arguments.number(&tool.offset_args);
    let limit = arguments.number(&tool.limit_args);
    let end = arguments.number(&tool.end_args);
    let first = offset.unwrap_or(1);
    match (offset, limit, end) {
        (None, None, None) => None,
        (_, Some(limit), _) => Some((first, limit)),
        (_, None, Some(end)) => Some((first, end.saturating_sub(first).saturating_add(1))),
        (_, None, None) => Some((first, u64::MAX)),
    }
}

/// Removes empty and repeated paths, and keeps the order.
fn dedup(paths: &mut Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| !path.is_empty() && seen.insert(path.clone()));
}

/// A name in lower case and without punctuation.
fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// The name without the prefix of a server or namespace.
fn without_server(name: &str) -> &str {
    let name = name.rsplit("__").next().unwrap_or(name);
    name.rsplit(['.', '/', ':']).next().unwrap_or(name)
}

/// Whether a tool is of a server and not of the client itself: `mcp__desk__ask_user`, `desk__ask_user`, `desk.ask_user`.
/// A server names its tools as it likes, so such a name does not show what the tool does.
pub(crate) fn is_of_server(name: &str) -> bool {
    // The namespace that models of OpenAI write before every tool.
    let own = name.trim();
    let own = own.strip_prefix("functions.").unwrap_or(own);
    without_server(own) != own
}

#[cfg(test)]
mod tests;
