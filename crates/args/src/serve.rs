//! The arguments of `midfold serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::common::{FoldingArgs, MeasureArgs, pair};
use crate::{KeyCommands, NarrationArgs, StoreAt};

/// The arguments of `midfold serve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_help_heading = "Clients")]
#[command(after_help = "\
Examples:
  midfold serve
  midfold serve --upstream openai=http://127.0.0.1:8080/v1 --window 32k
  midfold serve --upstream local=http://127.0.0.1:8080/v1
  midfold serve --store memory
  midfold serve --listen 0.0.0.0:7878 --keys keys.toml --tls-cert cert.pem --tls-key key.pem
  midfold serve --keys keys.toml --upstream-key openai=OPENAI_API_KEY
  OPENAI_BASE_URL=http://127.0.0.1:7878/v1 my-agent
  ANTHROPIC_BASE_URL=http://127.0.0.1:7878 claude

Speaks Chat Completions, Responses, Messages and generateContent, whatever comes before them in the path; \
every other path passes unchanged. A request that fits its window leaves as it came, byte for byte. One that \
does not is read through a fold, and so are the later requests of its conversation, so that the provider's \
prompt cache breaks once a fold.

Conversations are kept in the store, beside those of `midfold session`, and go on after a restart. A new \
conversation and a new fold are written before the client hears of them, the rest while requests go on. With `--store memory` nothing is written.

A client that asks its provider for compaction gets it from midfold, whatever the backend can do: Responses \
(`/v1/responses/compact`, `context_management`, `compaction_trigger`) and Messages (`compaction`, \
`context_management.edits`). The client carries the result, sealed; it can be opened after a restart, and on \
every node that has the key. With `--compaction upstream` such requests pass.

The provider's keys are the client's own: they go on, and are neither kept nor logged. With --keys each \
request has to have one of ours as well, in the header `midfold-key` or in the place of the provider's \
(`midfold serve key --help`). A request with \
the header `midfold: off` passes untouched; `midfold-policy: lean` chooses a preset. Answers say in \
`midfold-session`, `midfold-fold`, `midfold-tokens-before` and `midfold-tokens-after` what was done.

Options that are missing here are taken from variables (MIDFOLD_LISTEN, MIDFOLD_OPEN, MIDFOLD_ALLOW_ORIGIN, \
MIDFOLD_STRICT, MIDFOLD_RECALL, MIDFOLD_KEYS, MIDFOLD_TLS_CERT, MIDFOLD_TLS_KEY, MIDFOLD_CA, \
MIDFOLD_UPSTREAM, MIDFOLD_UPSTREAM_OPENAI …, MIDFOLD_UPSTREAM_KEY_OPENAI …, MIDFOLD_WINDOW, MIDFOLD_PRESET; HTTPS_PROXY, \
HTTP_PROXY and NO_PROXY for the way out) and from `[serve]` of your config.toml; `midfold print config` shows \
them.

Ctrl-c or SIGTERM ends it: requests under way are finished.")]
pub struct ServeArgs {
    /// Something else than serving.
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Listen where other machines can reach it, although no keys are asked for
    #[arg(long, hide_short_help = true)]
    pub open: bool,
    /// Accept requests from pages of this origin and under this host name, beside the server's own: https://HOST (may
    /// be repeated)
    #[arg(long, value_name = "ORIGIN", hide_short_help = true)]
    pub allow_origin: Vec<String>,
    /// Ask for a key: the file that `midfold serve key new` writes. It is read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// The variable that holds the server's own key for a provider, sent for clients that have a key of --keys (may be
    /// repeated)
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = pair, hide_short_help = true)]
    pub upstream_key: Vec<(String, String)>,
    /// Serve TLS with this certificate: a PEM file, the server's own certificate first
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate: a PEM file without a password
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub tls_key: Option<PathBuf>,
    /// The proxy.
    #[command(flatten)]
    pub proxy: ProxyArgs,
}

/// The subcommands of `midfold serve`.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Make, list and remove the keys of a server's clients
    Key(KeyCommands),
}

/// The flags of every command that starts a proxy.
#[derive(Debug, Args)]
pub struct ProxyArgs {
    /// Where requests go (may be repeated). openai=URL, anthropic=URL, gemini=URL or ollama=URL: requests of this
    /// format. NAME=URL: a place of your own, chosen by the path /to/NAME/…, the header midfold-upstream, or `models`
    /// in your config.toml. URL alone: all requests [default: the providers themselves]
    #[arg(long, value_name = "NAME=URL")]
    pub upstream: Vec<String>,
    /// Trust the authorities of this PEM file, too, where requests go
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ca: Option<PathBuf>,
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// Answer with an error where a request that needs a fold cannot be folded, instead of sending it as
    /// it came
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
    /// When the model has a tool that brings back what was folded: `folded`, from the first fold of a conversation on,
    /// or `never`. Its calls are answered here, and the client sees nothing of them. Each one is another request to the
    /// provider [default: folded]
    #[arg(
        long,
        value_name = "WHEN",
        num_args = 0..=1,
        default_missing_value = "folded",
        hide_possible_values = true
    )]
    pub recall: Option<RecallUse>,
    /// Give an agent's model tools with which it asks for a fold (`midfold_compact`), keeps a message whole
    /// (`midfold_pin`) and keeps a line in each recap (`midfold_note`), and answer their calls here, too
    #[arg(long, hide_short_help = true)]
    pub agent_tools: bool,
    /// Seconds for which the provider's cache keeps a prompt, unless the request asks for longer. After a longer pause
    /// a context above the buffer line is folded before it is sent, because the cache is cold anyway; 0: for ever
    /// [default: 300]
    #[arg(long, value_name = "SECONDS", hide_short_help = true)]
    pub cache_lifetime: Option<u64>,
    /// Who does the compaction that clients ask their provider for (`/v1/responses/compact`,
    /// `context_management`, `compaction`): midfold, or the upstream
    #[arg(
        long,
        value_name = "WHO",
        default_value = "midfold",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub compaction: CompactedBy,
    /// Keys that seal such compactions, one a line: 32 bytes in base64; the first seals, all open
    /// [default: MIDFOLD_SEAL_KEYS, else `seal.key` beside the default store, made at first need]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub seal_keys: Option<PathBuf>,
    /// How tokens are counted, and what they have to fit.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// The policy.
    #[command(flatten)]
    pub folding: FoldingArgs,
    /// Who narrates in the background.
    #[command(flatten)]
    pub narration: NarrationArgs,
}

/// When the model has the recall tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecallUse {
    /// From the first fold of its conversation on
    Folded,
    /// Never
    Never,
}

/// Who does a compaction that a client asks its provider for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompactedBy {
    /// midfold, in front of any backend
    Midfold,
    /// The backend; compactions that midfold sealed can still be opened
    Upstream,
}
