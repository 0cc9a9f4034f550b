//! The arguments of `midfold mcp`, the server for agents.

use clap::Args;

use crate::StoreAt;

/// The arguments of `midfold mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  claude mcp add midfold -- midfold mcp
  codex mcp add midfold -- midfold mcp
  midfold mcp --store sqlite:/home/me/agents.db --session tuesday

The agent starts this command and speaks to it over standard input and output; whatever is logged goes to \
standard error. Its model gets tools that search and read the messages that were folded away (recall_find, \
recall_show), one that says whether it still sees a text \
(explain), and one that lists the sessions (sessions). Nothing is changed in the store, but by --agent-tools. \
Where there is none yet, there are no sessions until there is one.

A call means the session that it names, else that of --session, else the one that holds a text of it, else \
the only one. docs/MCP.md has the settings of each client.")]
pub struct McpArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The session for calls that name none
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only the sessions of this client: the name of its key in `midfold serve --keys`
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,
    /// Give the agent tools that fold its session (compact), keep a message whole (pin) and keep a line in each recap
    /// (note); the store keeps pins and notes
    #[arg(long)]
    pub agent_tools: bool,
}
