//! The arguments of `midfold doctor`.

use std::net::SocketAddr;

use clap::Args;

use crate::StoreAt;

/// The arguments of `midfold doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold doctor
  midfold doctor --upstream openai=http://127.0.0.1:8080/v1
  midfold doctor --narrator http://127.0.0.1:8080 --json

Looks at the store, who may read it, the providers, the clock, the files of settings, the port of \
`midfold serve`, and the clients that are installed. Nothing is changed but what opening a store changes; \
nothing but questions for models and their windows, without a key, leaves this machine. A check takes 3 seconds \
at most.

The exit code is 0 when nothing fails, 1 otherwise. A warning is no failure: midfold works all the same.")]
pub struct DoctorArgs {
    /// Where requests go: openai=URL, anthropic=URL, gemini=URL, NAME=URL, or one URL for all (may be repeated)
    /// [default: the providers themselves]
    #[arg(long, value_name = "NAME=URL")]
    pub upstream: Vec<String>,
    /// Where `midfold serve` is to listen [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The model that `midfold serve --narrator` is to ask
    #[arg(long, value_name = "URL")]
    pub narrator: Option<String>,
}
