//! The arguments of the hooks that a client calls, and the settings files that hold them.

use clap::{Args, Subcommand};

use crate::session::StoreAt;

/// The arguments of `midfold hooks`. `midfold connect` writes these commands into the settings of a client.
#[derive(Debug, Args)]
pub struct HooksArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: HooksCommand,
}

/// The subcommands of `midfold hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// The hook itself, before a compaction: its call comes on standard input
    #[command(name = "pre-compact")]
    PreCompact(HookCallArgs),
    /// The hook itself, after a compaction: its call comes on standard input
    #[command(name = "session-start")]
    SessionStart(HookCallArgs),
    /// The plug-in's compaction: its event comes on standard input, the messages go to standard output
    #[command(name = "session-compact")]
    SessionCompact(HookCallArgs),
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

/// The arguments with which a client calls a hook.
#[derive(Debug, Args)]
pub struct HookCallArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
}
