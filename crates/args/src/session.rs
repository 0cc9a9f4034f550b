//! The arguments of `midfold session`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use crate::common::{FoldingArgs, MeasureArgs, pair, tokens};

/// The flag that names the store.
#[derive(Clone, Debug, Args)]
pub struct StoreAt {
    /// The store: sqlite:PATH, postgres://user@host/database or memory
    /// [default: $MIDFOLD_STORE, else that of midfold.toml, else a SQLite file in your data folder]
    #[arg(long, global = true, value_name = "URL", help_heading = "Store")]
    pub store: Option<String>,
}

/// The arguments of `midfold session`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  id=$(midfold session new --window 128k)
  echo '{\"role\":\"user\",\"content\":\"hi\"}' | midfold session append $id -
  midfold session context $id > messages.json

A session is named by its id, by the beginning of it, or by `last`: the one that changed last.")]
pub struct SessionArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The subcommand.
    #[command(subcommand)]
    pub command: SessionCommand,
}

/// The subcommands of `midfold session`.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// Make a session and print its id
    New(Box<NewSessionArgs>),
    /// Append messages; what is acknowledged is durable
    Append(AppendArgs),
    /// Print the messages to send, folded first where that is due
    Context(ContextArgs),
    /// Record what the provider counted for a request
    Observe(ObserveArgs),
    /// Compact now
    Compact(CompactionArgs),
    /// Compact after the provider refused a request as too long
    Recover(RecoverArgs),
    /// Show the figures of a session
    Status(StatusArgs),
    /// List the sessions
    List(ListArgs),
    /// Show the original messages
    Log(LogArgs),
    /// Take back a fold
    Undo(UndoArgs),
    /// Keep a message, verbatim, out of every later fold
    Pin(PinArgs),
    /// Remove the pin of a message
    Unpin(PinArgs),
    /// Make a new session from the first messages of another
    Fork(ForkArgs),
    /// Delete sessions, for good
    Delete(DeleteArgs),
    /// Change the policy, from the next fold on; without one, print it
    Policy(SessionPolicyArgs),
    /// Change the model, and with it the window
    Model(ModelArgs),
}

impl SessionCommand {
    /// The words that name stored sessions: ids, their beginnings, or `last`.
    pub fn session_words(&mut self) -> Vec<&mut String> {
        match self {
            Self::New(_) | Self::List(_) => Vec::new(),
            Self::Delete(args) => args.ids.iter_mut().collect(),
            Self::Append(args) => vec![&mut args.id],
            Self::Context(args) => vec![&mut args.id],
            Self::Observe(args) => vec![&mut args.id],
            Self::Compact(args) => vec![&mut args.id],
            Self::Recover(args) => vec![&mut args.id],
            Self::Status(args) => vec![&mut args.id],
            Self::Log(args) => vec![&mut args.id],
            Self::Undo(args) => vec![&mut args.id],
            Self::Pin(args) | Self::Unpin(args) => vec![&mut args.id],
            Self::Fork(args) => vec![&mut args.id],
            Self::Policy(args) => vec![&mut args.id],
            Self::Model(args) => vec![&mut args.id],
        }
    }
}

/// Flags that choose the policy of a session.
#[derive(Clone, Debug, Args)]
pub struct PolicyArgs {
    /// The policy.
    #[command(flatten)]
    pub folding: FoldingArgs,
    /// Have spans narrated by the model of a `midfold worker`, whatever the policy says
    #[arg(long, help_heading = "Folding", hide_short_help = true)]
    pub narrate: bool,
}

/// Flags for the settings of a new session.
#[derive(Clone, Debug, Args)]
pub struct StartArgs {
    /// How tokens are counted, and what they have to fit.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// The policy, and whether a model narrates.
    #[command(flatten)]
    pub folding: PolicyArgs,
    /// Tokens of the window that stay free for the reply [default: 0]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Measuring", hide_short_help = true)]
    pub output_reserve: Option<u64>,
}

/// The arguments of `midfold session new`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session new --model gpt-5 --output-reserve 8k
  midfold session new --id review-12 --dialect anthropic --system prompt.txt --tools tools.json")]
pub struct NewSessionArgs {
    /// The id [default: a new one that sorts by time]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// What the messages are written in: openai-chat, openai-responses, anthropic, gemini, bedrock,
    /// ollama, sharegpt
    #[arg(long, value_name = "DIALECT", default_value = "openai-chat", help_heading = "Formats")]
    pub dialect: String,
    /// The model that the contexts go to: chooses window, tokenizer and trigger rules
    #[arg(long, value_name = "NAME", help_heading = "Measuring")]
    pub model: Option<String>,
    /// The system prompt: text, or its JSON value
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    pub system: Option<PathBuf>,
    /// The tools of the request, as their JSON list: counted, not sent
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    pub tools: Option<PathBuf>,
    /// What the sessions start with.
    #[command(flatten)]
    pub start: StartArgs,
}

/// The arguments of `midfold session append`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{\"role\":\"user\",\"content\":\"hi\"}' | midfold session append $id -
  midfold session append $id reply.json --key request-17

One message, a list of messages, or one message a line. All of them are appended or none, and the command \
ends with 0 only once they are durable. It prints nothing: -v says what was appended, --json prints the \
place of each message in the log, from 0. With --key a repeated append is recognised and changes nothing.")]
pub struct AppendArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The messages; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub file: PathBuf,
    /// Names this append: a retry with the same key returns the first answer
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Append only if the session has this many messages; if not, somebody else appended
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub expect: Option<u64>,
}

/// The arguments of `midfold session context`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session context $id > messages.json
  midfold session context $id --json | jq .call")]
pub struct ContextArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// Write the messages to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Do not write a call into the ledger: the context is only looked at
    #[arg(long, hide_short_help = true)]
    pub no_record: bool,
    /// Add the text of this file behind the history, beside the newest request: it is sent and not
    /// kept (may be repeated; needs a reserve)
    #[arg(long, value_name = "NAME=FILE", value_parser = pair, hide_short_help = true)]
    pub inject: Vec<(String, String)>,
    /// Keep this many tokens free for what NAME injects; more than that is an error
    #[arg(long, value_name = "NAME=N", value_parser = pair, hide_short_help = true)]
    pub reserve: Vec<(String, String)>,
}

/// The arguments of `midfold session observe`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session observe $id --prompt 41200 --completion 350 --cache-read 39000
  jq .usage response.json | midfold session observe $id -

The figures are those of the newest context, unless --call names another one. JSON is read as \
OpenAI and Anthropic write it: a `usage` object, or a whole response that has one.")]
pub struct ObserveArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// What the provider reported, as JSON; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present = "prompt", conflicts_with = "prompt")]
    pub file: Option<PathBuf>,
    /// Tokens of the prompt, cached ones included
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub prompt: Option<u64>,
    /// Tokens of the reply
    #[arg(long, value_name = "N", requires = "prompt")]
    pub completion: Option<u64>,
    /// Tokens of the prompt that came from the cache
    #[arg(long, value_name = "N", requires = "prompt", hide_short_help = true)]
    pub cache_read: Option<u64>,
    /// Tokens of the prompt that were written to the cache
    #[arg(long, value_name = "N", requires = "prompt", hide_short_help = true)]
    pub cache_write: Option<u64>,
    /// The number of the call [default: the newest]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub call: Option<u64>,
}

/// The arguments of `midfold session compact`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session compact $id
  midfold session compact $id --focus 'the retry logic'
  midfold session compact $id --dry-run")]
pub struct CompactionArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// What the recap should keep before anything else
    #[arg(long, value_name = "TEXT")]
    pub focus: Option<String>,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
}

/// The arguments of `midfold session recover`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example:
  midfold session recover $id --status 400 --body error.json > messages.json

Reads what the provider answered. Where the request was too long, the session is compacted at once \
and the new messages are printed: send them once. Anything else is named, and nothing is changed.")]
pub struct RecoverArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The HTTP status; leave it out if the connection broke before there was one
    #[arg(long, value_name = "N")]
    pub status: Option<u16>,
    /// The body of the answer; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub body: PathBuf,
    /// Write the messages to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The arguments of `midfold session status`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example:
  midfold session status $id --json | jq .usage_percent")]
pub struct StatusArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
}

/// The arguments of `midfold session list`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example:
  midfold session list --limit 20")]
pub struct ListArgs {
    /// List at most this many: those that changed last
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

/// The arguments of `midfold session log`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session log $id --from 10 --to 20
  midfold session log $id --json > original.json")]
pub struct LogArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The first message, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub from: u64,
    /// The last message
    #[arg(long, value_name = "N")]
    pub to: Option<u64>,
}

/// The arguments of `midfold session undo`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session undo $id
  midfold session undo $id 2

Takes back the active fold, or this one and those after it. The messages come back as they were; \
the fold's record stays.")]
pub struct UndoArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The fold: its number, or the start of its id [default: the active one]
    #[arg(value_name = "FOLD")]
    pub fold: Option<String>,
}

/// The arguments of `midfold session pin` and `midfold session unpin`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example:
  midfold session pin $id 4

`midfold session log` shows the numbers. A message takes the calls and results that belong to it \
with it.")]
pub struct PinArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The message, by its place in the log
    #[arg(value_name = "N")]
    pub seq: u64,
}

/// The arguments of `midfold session fork`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example:
  midfold session fork $id --at 12 --id another-try")]
pub struct ForkArgs {
    /// The session to start from
    #[arg(value_name = "ID")]
    pub id: String,
    /// Take the first N messages [default: all]
    #[arg(long, value_name = "N")]
    pub at: Option<u64>,
    /// The id of the new session [default: a new one that sorts by time]
    #[arg(long = "id", value_name = "ID")]
    pub new: Option<String>,
}

/// The arguments of `midfold session delete`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session delete $id
  midfold session delete tuesday review-12 --yes

Without --yes it prints what would be deleted, deletes nothing and ends with 1. A deletion takes \
messages, folds, calls and jobs; forks of the session stay whole. A SQLite file is rewritten, so \
that nothing is left in it; PostgreSQL frees the room in its own time (VACUUM).")]
pub struct DeleteArgs {
    /// The sessions; if one of them is unknown, none is deleted
    #[arg(value_name = "ID", required = true, num_args = 1..)]
    pub ids: Vec<String>,
    /// Delete; it cannot be undone
    #[arg(long)]
    pub yes: bool,
}

/// The arguments of `midfold session policy`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session policy $id --preset hermes
  midfold session policy $id > mine.toml

What is folded stays as it is. The next fold follows the new policy and records its fingerprint; `session \
status` says since when it holds. Without --preset and --policy the policy is printed.")]
pub struct SessionPolicyArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The policy, and whether a model narrates.
    #[command(flatten)]
    pub folding: PolicyArgs,
}

/// The arguments of `midfold session model`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example:
  midfold session model $id gpt-5-mini --window 128k

From then on the model's own trigger rules and provider's rules hold. Counts and limits that were learned of \
the other model are forgotten.")]
pub struct ModelArgs {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The model that the contexts go to
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
    /// Its window, in tokens [default: the model's own, where it is known; else as before]
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub window: Option<u64>,
}
