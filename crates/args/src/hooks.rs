//! The arguments of `midfold hooks`.

use clap::{Args, Subcommand, ValueEnum};

use crate::StoreAt;

/// The arguments of `midfold hooks`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold hooks install claude
  midfold hooks status
  midfold hooks uninstall claude

From 2.1.287 on, Claude Code calls a plug-in where it would ask its model for a summary. midfold folds there \
(session.compact): no request, and recall as tools. In older versions, and where that fails, midfold imports the \
transcript before the summary (PreCompact), and afterwards tells the model by a recap of the whole session what was \
taken away, and by which command it finds the originals (SessionStart, `compact`). Everything else in the settings \
file stays as it is.

A hook never stops Claude Code. If it could do nothing, the log that `midfold hooks status` names says why.")]
pub struct HooksArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: HooksCommand,
}

/// The subcommands of `midfold hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Write a plug-in beside the settings of a client, and hooks into them
    Install(InstallArgs),
    /// Take out what install wrote
    Uninstall(UninstallArgs),
    /// Say where hooks are installed, and where they log
    Status,
    /// The hook itself, before a compaction: its call comes on standard input
    #[command(name = "pre-compact", hide = true)]
    PreCompact(HookCallArgs),
    /// The hook itself, after a compaction: its call comes on standard input
    #[command(name = "session-start", hide = true)]
    SessionStart(HookCallArgs),
    /// The plug-in's compaction: its event comes on standard input, the messages go to standard output
    #[command(name = "session-compact", hide = true)]
    SessionCompact(HookCallArgs),
}

/// The clients into whose settings midfold can write hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HookClient {
    /// Claude Code
    Claude,
}

/// The arguments of `midfold hooks uninstall`: the client and its settings file.
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// The client
    #[arg(value_name = "CLIENT")]
    pub client: HookClient,
    /// Which settings file.
    #[command(flatten)]
    pub scope: SettingsScope,
}

/// Flags that choose a settings file.
#[derive(Clone, Copy, Debug, Args)]
pub struct SettingsScope {
    /// The file of the project in this folder: .claude/settings.json (default)
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// The user's own file, for all projects: ~/.claude/settings.json
    #[arg(long)]
    pub user: bool,
}

/// The arguments of `midfold hooks install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold hooks install claude
  midfold hooks install claude --user --store sqlite:/home/me/claude.db

Doing it twice changes nothing; with another --store the hooks are replaced.")]
pub struct InstallArgs {
    /// Of which client, and in which file.
    #[command(flatten)]
    pub which: UninstallArgs,
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
}

/// The arguments with which a client calls a hook.
#[derive(Debug, Args)]
pub struct HookCallArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
}
