//! The arguments of `midfold connect`.

use clap::{Args, ValueEnum};

use crate::hooks::SettingsScope;
use crate::session::StoreAt;

/// The arguments of `midfold connect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold connect claude
  midfold connect claude --user --store sqlite:/home/me/claude.db
  midfold connect codex
  midfold connect claude --remove
  midfold connect

claude: from 2.1.287 on, Claude Code calls a plug-in where it would ask its model for a summary. midfold folds \
there: no request, and recall as tools. In older versions, and where that fails, midfold imports the transcript before \
the summary, and afterwards tells the model by a recap of the whole session what was taken away, and by which command \
it finds the originals. Everything else in the settings file stays as it is.

codex, gemini: the client's own command (`codex mcp add`) adds `midfold mcp`, with which the agent looks up what \
was folded away.

Doing it twice changes nothing. Without a client, it says what is connected, and where hooks log. A hook never stops \
its client. To send requests through midfold, see `midfold run`.")]
pub struct ConnectArgs {
    /// The client [default: say what is connected]
    #[arg(value_name = "CLIENT")]
    pub client: Option<ConnectedClient>,
    /// Take out what was written
    #[arg(long, requires = "client")]
    pub remove: bool,
    /// Which settings file.
    #[command(flatten)]
    pub scope: SettingsScope,
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
}

/// The clients into whose settings midfold can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConnectedClient {
    /// Claude Code: compaction, and recall
    Claude,
    /// Codex: recall
    Codex,
    /// Gemini CLI: recall
    Gemini,
}
