//! The arguments of `midfold top`.

use std::path::PathBuf;

use clap::Args;

use crate::StoreAt;

/// The arguments of `midfold top`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold top
  midfold top --store sqlite:sessions.db review-12
  MIDFOLD_KEY=mf_… midfold top --server https://midfold.example

The list shows how full each window is, with a mark where the next fold is due, what prompts cost against \
sending everything, the share that came from the cache, and the folds. Enter opens a session: what became of \
each message, fold by fold. Enter again opens a fold: its recap, its edits and their reasons, what it lost. \
`/` asks why a text was forgotten; `?` lists the keys.

It looks for changes twice a second, and changes nothing itself: `midfold session` and the console of \
`midfold serve` do that.

Where standard output is no terminal, the list is printed once; with --json as JSON. With SESSION it is that \
session and its fabric.")]
pub struct TopArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// Ask a running `midfold serve` at this address, instead of a store
    #[arg(long, value_name = "URL", conflicts_with = "store", help_heading = "Server")]
    pub server: Option<String>,
    /// The file that holds the key for that server [default: the key in $MIDFOLD_KEY, where it is set]
    #[arg(long, value_name = "FILE", requires = "server", help_heading = "Server")]
    pub key_file: Option<PathBuf>,
    /// Open this session
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
}
