//! What the server is asked.

use std::net::SocketAddr;

use clap::Args;

use super::common::{Folding, Measure};
use super::{Narration, StoreAt};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold serve
  midfold serve --upstream openai=http://127.0.0.1:8080/v1 --window 32k
  midfold serve --store memory
  OPENAI_BASE_URL=http://127.0.0.1:7878/v1 my-agent
  ANTHROPIC_BASE_URL=http://127.0.0.1:7878 claude

Speaks Chat Completions, Responses, Messages and generateContent; every other path goes on as it is. \
A request that fits its window leaves as it came, byte for byte. One that does not is read through a fold, \
and so are the later requests of its conversation, so that the provider's prompt cache breaks once a fold.

Conversations are kept in the store, beside those of `midfold session`, and go on after a restart. They are \
written while requests go on: no request waits for that. With `--store memory` nothing is written.

Keys are the client's own: they go on to the provider, and are neither kept nor logged. A request with \
the header `midfold: off` passes untouched; `midfold-policy: lean` chooses a preset. Answers say in \
`midfold-session`, `midfold-fold`, `midfold-tokens-before` and `midfold-tokens-after` what was done.

Ctrl-c or SIGTERM ends it: requests under way are finished.")]
pub struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub listen: SocketAddr,
    /// Listen where other machines can reach it, although no keys are asked for
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub proxy: ProxyArgs,
}

/// What a proxy is asked, whoever starts it.
#[derive(Debug, Args)]
pub struct ProxyArgs {
    /// Where requests go: openai=URL, anthropic=URL, gemini=URL, or one URL for all (may be repeated)
    /// [default: the providers themselves]
    #[arg(long, value_name = "NAME=URL")]
    pub upstream: Vec<String>,
    #[command(flatten)]
    pub at: StoreAt,
    /// Answer with an error where a request that needs a fold cannot be folded, instead of sending it as
    /// it came
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub measure: Measure,
    #[command(flatten)]
    pub folding: Folding,
    #[command(flatten)]
    pub narration: Narration,
}
