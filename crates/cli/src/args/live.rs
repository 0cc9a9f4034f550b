//! What can be asked of stored sessions.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Measure, tokens};

/// Where sessions are kept.
#[derive(Clone, Debug, Args)]
pub struct StoreAt {
    /// The store: sqlite:PATH, postgres://user@host/database or memory
    /// [default: $MIDFOLD_STORE, else a SQLite file in your data folder]
    #[arg(long, global = true, value_name = "URL", help_heading = "Store")]
    pub store: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  id=$(midfold session new --window 128k)
  echo '{\"role\":\"user\",\"content\":\"hi\"}' | midfold session append $id -
  midfold session context $id > messages.json")]
pub struct Session {
    #[command(flatten)]
    pub at: StoreAt,
    #[command(subcommand)]
    pub command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Make a session and print its id
    New(Box<New>),
    /// Append messages; what is acknowledged is durable
    Append(Append),
    /// Print the messages to send, folded first where that is due
    Context(Context),
    /// Tell what the provider counted for a request
    Observe(Observe),
    /// Compact now
    Compact(Compaction),
    /// Say what a compaction would do, without doing it
    Preview(Compaction),
    /// Compact after the provider refused a request as too long
    Recover(Recover),
    /// Show what a session is at
    Status(Status),
    /// List the sessions
    List(List),
    /// Show the original messages
    Log(Log),
    /// Take back a fold
    Undo(Undo),
    /// Keep a message, verbatim, out of every later fold
    Pin(Pin),
    /// Let a pinned message go
    Unpin(Pin),
    /// Make a session of its own from the first messages of another
    Fork(Fork),
}

/// What a new session is made of.
#[derive(Debug, Args)]
pub struct Start {
    #[command(flatten)]
    pub measure: Measure,
    /// When and how to fold: see `midfold presets` [default: default]
    #[arg(long, value_name = "PRESET", help_heading = "Folding", conflicts_with = "policy")]
    pub preset: Option<String>,
    /// A policy of your own, as TOML; `base = "default"` starts from a preset
    #[arg(long, value_name = "FILE", help_heading = "Folding")]
    pub policy: Option<PathBuf>,
    /// Have spans narrated by the model of a `midfold worker`, whatever the policy says
    #[arg(long, help_heading = "Folding")]
    pub narrate: bool,
    /// Tokens of the window that stay free for the reply [default: 0]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Measuring")]
    pub output_reserve: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session new --model gpt-5 --output-reserve 8k
  midfold session new --id review-12 --dialect anthropic --system prompt.txt --tools tools.json")]
pub struct New {
    /// The id [default: a new one that sorts by time]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// What the messages are written in: openai-chat, openai-responses, anthropic, sharegpt
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
    #[command(flatten)]
    pub start: Start,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{\"role\":\"user\",\"content\":\"hi\"}' | midfold session append $id -
  midfold session append $id reply.json --key request-17

One message, a list of messages, or one message a line. All of them are appended or none, and the \
command ends with 0 only once they are durable. Prints the place of each in the log, from 0. With \
--key a repeated append is told apart from a new one and changes nothing.")]
pub struct Append {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The messages; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub file: PathBuf,
    /// Names this append: a retry with the same key returns the first answer
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Only when the session has so many messages: otherwise somebody else appended, and nothing
    /// is done
    #[arg(long, value_name = "N")]
    pub expect: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session context $id > messages.json
  midfold session context $id --json | jq .call")]
pub struct Context {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// Write the messages to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Do not write a call into the ledger: the context is only looked at
    #[arg(long)]
    pub no_record: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session observe $id --prompt 41200 --completion 350 --cache-read 39000
  jq .usage response.json | midfold session observe $id -

The figures are those of the newest context, unless --call names another one. JSON is read as \
OpenAI and Anthropic write it: a `usage` object, or a whole response that has one.")]
pub struct Observe {
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
    #[arg(long, value_name = "N", requires = "prompt")]
    pub cache_read: Option<u64>,
    /// Tokens of the prompt that were written to the cache
    #[arg(long, value_name = "N", requires = "prompt")]
    pub cache_write: Option<u64>,
    /// The call that it was [default: the newest]
    #[arg(long, value_name = "N")]
    pub call: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session compact $id
  midfold session compact $id --focus 'the retry logic'
  midfold session preview $id")]
pub struct Compaction {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// What the recap should keep before anything else
    #[arg(long, value_name = "TEXT")]
    pub focus: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold session recover $id --status 400 --body error.json > messages.json

Reads what the provider answered. Where the request was too long, the session is compacted at once \
and the new messages are printed: send them once. Anything else is named, and nothing is changed.")]
pub struct Recover {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The HTTP status; without it, the connection broke before one came
    #[arg(long, value_name = "N")]
    pub status: Option<u16>,
    /// The body of the answer; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub body: PathBuf,
    /// Write the messages to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold session status $id --json | jq .usage_percent")]
pub struct Status {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold session list --limit 20")]
pub struct List {
    /// At most this many, the newest ids
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session log $id --from 10 --to 20
  midfold session log $id --json > original.json")]
pub struct Log {
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold session undo $id
  midfold session undo $id 2

Takes back the active fold, or this one and those after it. The messages come back as they were; \
the fold's record stays.")]
pub struct Undo {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The fold: its number, or the start of its id [default: the active one]
    #[arg(value_name = "FOLD")]
    pub fold: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold session pin $id 4

`midfold session log` shows the numbers. A message takes the calls and results that belong to it \
with it.")]
pub struct Pin {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The message, by its place in the log
    #[arg(value_name = "N")]
    pub seq: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold session fork $id --at 12 --id another-try")]
pub struct Fork {
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold import session.jsonl
  midfold import session.jsonl --id tuesday --window 200k

Imports every conversation of the file as a session. A session that is there already gets the \
messages that are new to it: importing a file twice changes nothing.")]
pub struct Import {
    #[command(flatten)]
    pub at: StoreAt,
    /// The transcript; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The id of the session; of several conversations, what their ids start with
    /// [default: the id in the file, else its name]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// What the file is written in [default: told by its content]
    #[arg(long, value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<String>,
    /// Convert to this dialect: openai-chat or anthropic
    #[arg(long, value_name = "DIALECT", help_heading = "Formats")]
    pub to: Option<String>,
    /// Of several conversations, only number N (from 1)
    #[arg(long, value_name = "N")]
    pub only: Option<usize>,
    #[command(flatten)]
    pub start: Start,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold explain $id 'src/retry.rs'
  midfold explain $id 8471 --call 12")]
pub struct Explain {
    #[command(flatten)]
    pub at: StoreAt,
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// What to look for
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// At this call of the ledger [default: the session as it stands]
    #[arg(long, value_name = "N")]
    pub call: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold audit $id
  midfold audit --all --json

Ends with 1 when something does not hold.")]
pub struct Audit {
    #[command(flatten)]
    pub at: StoreAt,
    /// The session
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub id: Option<String>,
    /// All sessions of the store
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall grep $id 'connection refused'
  midfold recall expand $id 12-20
  midfold recall tools --shape anthropic")]
pub struct Recall {
    #[command(flatten)]
    pub at: StoreAt,
    #[command(subcommand)]
    pub command: RecallCommand,
}

#[derive(Debug, Subcommand)]
pub enum RecallCommand {
    /// Find original messages by what they say
    Grep(Grep),
    /// Print originals in full, a page at a time
    Expand(Expand),
    /// Say what a fold covers, and what it no longer names
    Describe(Describe),
    /// Print these three as tools that an agent can be given
    Tools(Tools),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall grep $id 'retry budget'
  midfold recall grep $id --regex 'E[0-9]{4}'")]
pub struct Grep {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// What to look for: words, the best match first
    #[arg(value_name = "QUERY")]
    pub query: String,
    /// Exactly this text, the newest first
    #[arg(long, conflicts_with = "regex")]
    pub literal: bool,
    /// A regular expression, the newest first
    #[arg(long)]
    pub regex: bool,
    /// At most this many (up to 50)
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall expand $id 12
  midfold recall expand $id active --max-chars 2000")]
pub struct Expand {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// A message (12), a range (12-20), `active` for all that the recap stands for, or a fold's id
    #[arg(value_name = "WHAT")]
    pub what: String,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    pub from: Option<String>,
    /// Characters of a page
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    pub max_chars: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold recall describe $id")]
pub struct Describe {
    /// The session
    #[arg(value_name = "ID")]
    pub id: String,
    /// The fold: its number, or the start of its id [default: the active one]
    #[arg(value_name = "FOLD")]
    pub fold: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold recall tools --shape anthropic")]
pub struct Tools {
    /// How the provider wants them
    #[arg(long, value_name = "SHAPE", default_value = "openai")]
    pub shape: ToolsShape,
}

/// How a provider wants tools to be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolsShape {
    /// Chat Completions
    Openai,
    /// Messages
    Anthropic,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold worker --base-url http://127.0.0.1:8080 --model small
  midfold worker --base-url https://api.openai.com/v1 --model gpt-5-mini --key-env OPENAI_API_KEY --once

Any service that speaks Chat Completions will do. Runs until it is told to stop (ctrl-c, SIGTERM): \
the job at hand is finished, or given back after a few seconds. Several workers may share a store.")]
pub struct Worker {
    #[command(flatten)]
    pub at: StoreAt,
    /// Where the model is
    #[arg(long, value_name = "URL")]
    pub base_url: String,
    /// Its name there
    #[arg(long, value_name = "NAME")]
    pub model: String,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    pub key_env: Option<String>,
    /// The file that holds the key
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The model's window, in tokens: longer spans are sent in parts
    /// [default: that of the model, where it is known]
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub window: Option<u64>,
    /// Do what is due, then end; with 1 where a job failed
    #[arg(long)]
    pub once: bool,
    /// Jobs at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub concurrency: u16,
    /// Milliseconds between two looks at an empty queue
    #[arg(long, value_name = "MS", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(10..))]
    pub poll: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold store fsck
  midfold store export backup.jsonl
  midfold store import backup.jsonl --store postgres://me@db/midfold")]
pub struct StoreCommands {
    #[command(flatten)]
    pub at: StoreAt,
    #[command(subcommand)]
    pub command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Compute every hash chain and account again; ends with 1 when something is wrong
    Fsck,
    /// Write sessions to a file, one record a line
    Export(Export),
    /// Read what `export` wrote; all or nothing where the file is damaged
    Import(Load),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold store export backup.jsonl")]
pub struct Export {
    /// The file; `-` writes to standard output
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold store import backup.jsonl")]
pub struct Load {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}
