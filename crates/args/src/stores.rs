//! The arguments of other commands over a store: import, explain, recall, worker and store.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::common::tokens;
use crate::session::{StartArgs, StoreAt};

/// The arguments of `midfold import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold import session.jsonl
  midfold import session.jsonl --id tuesday --window 200k
  midfold import ~/.claude/projects runs/*.jsonl
  midfold import ~/.claude/projects/-home-me-work --watch

Imports every conversation of the file as a session. A session that is there already gets the \
messages that are new to it: importing a file twice changes nothing. Where the client compacted since, \
its summary and what follows are added to the session.

A folder stands for the transcripts in it and below it: files that end in .jsonl, .json or .traj, also \
packed (.gz, .zst). Files without a transcript are counted at the end. Of several files, one that was named \
and cannot be imported is reported, the others are done, and the exit code is 1. Where two of them \
would get the same id, the second one gets the next (run-2).

With --watch the file is followed until Ctrl-C, of a folder always the transcript that was written last. \
A line is printed for each batch of new messages; with --json it is JSON. A message that its client may \
still be writing waits until it is finished. A file that was rewritten goes on as another session: ID-2.")]
pub struct ImportArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The transcript; several, or folders of them; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Go on as the file grows, until Ctrl-C
    #[arg(long, short)]
    pub watch: bool,
    /// The id of the session; of several conversations or files, what their ids start with
    /// [default: the id in the file, else its name]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// What the file is written in [default: detected from its content]
    #[arg(long, value_name = "FORMAT", help_heading = "Formats", hide_short_help = true)]
    pub from: Option<String>,
    /// Convert to this dialect: openai-chat, anthropic, gemini, bedrock, ollama or sharegpt
    #[arg(long, value_name = "DIALECT", help_heading = "Formats", hide_short_help = true)]
    pub to: Option<String>,
    /// Only conversation N of several (from 1)
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub only: Option<usize>,
    /// What the sessions start with.
    #[command(flatten)]
    pub start: StartArgs,
}

/// The arguments of `midfold explain`.
#[derive(Debug, Args)]
#[command(
    override_usage = "midfold explain [OPTIONS] [ID|FILE] <TEXT>...",
    after_help = "\
Examples:
  midfold explain 'src/retry.rs'
  midfold explain $id 8471 --call 12
  midfold explain session.jsonl 'src/retry.rs'

A session is named by its id, by the beginning of it, or by `last`: the one that changed last, which is also meant where \
none is named.
A transcript is read as if it were imported, and nothing is stored. Where a session and a file have one name, \
the session is meant: ./NAME is the file."
)]
pub struct ExplainArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The session, or a transcript [default: the session that changed last]; and what to look for
    #[arg(value_names = ["ID|FILE", "TEXT"], required = true, num_args = 1..)]
    pub asked: Vec<String>,
    /// At this call of the ledger [default: the session as it is now]. Through a proxy, a conversation's first request
    /// is in no ledger, so its second one is call 1
    #[arg(long, value_name = "N")]
    pub call: Option<u64>,
}

/// The arguments of `midfold recall`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall outline $id
  midfold recall find 'connection refused'
  midfold recall show last @12-20
  midfold recall find session.jsonl 'connection refused'
  midfold recall tools --shape anthropic

@12 is message 12 of the log, counted from 0: the same number in recaps, here, and in \
`midfold session log`. A session is named by its id, by the beginning of it, or by `last`: the one that changed last. A \
transcript is read as if it were imported, and nothing is stored: nothing is \
folded in it, but all of it can be searched.")]
pub struct RecallArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The subcommand.
    #[command(subcommand)]
    pub command: RecallCommand,
}

/// The subcommands of `midfold recall`.
#[derive(Debug, Subcommand)]
pub enum RecallCommand {
    /// Find original messages by what they say, or by role, tool and outcome
    #[command(alias = "grep")]
    Find(FindArgs),
    /// List messages, one line each: role, tool, target, outcome, size
    Outline(OutlineArgs),
    /// Print originals in full, a call with its result, a page at a time
    #[command(alias = "expand")]
    Show(ShowArgs),
    /// List names that left the context, the most likely needed first
    Names(NamesArgs),
    /// Say what a fold covers, and what it no longer names
    Describe(DescribeArgs),
    /// Print the two tools that an agent can be given
    Tools(ToolsArgs),
}

/// The arguments of `midfold recall find`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall find 'retry budget'
  midfold recall find last 'retry budget'
  midfold recall find $id --regex 'E[0-9]{4}' --tool bash --context 2
  midfold recall find $id --errors --folded

Without a session, the 50 that changed last are searched. Without a query, whatever passes the filters is listed, the oldest first. A hit prints the number of \
its message (@12, as everywhere), and whether a later message reads or writes the same file.")]
pub struct FindArgs {
    /// The session, or a transcript [default: the newest sessions]; and what to look for: words, the best match first,
    /// which may be left out where a filter is given
    #[arg(value_names = ["ID|FILE", "WORDS"], required = true, num_args = 1..)]
    pub asked: Vec<String>,
    /// Exactly this text, the newest first
    #[arg(long, conflicts_with = "regex", hide_short_help = true)]
    pub literal: bool,
    /// A regular expression, the newest first
    #[arg(long)]
    pub regex: bool,
    /// Only messages of this role: system, developer, user, assistant or tool (results)
    #[arg(long, value_name = "ROLE", help_heading = "Filters")]
    pub role: Option<String>,
    /// Only calls of this tool and their results: its name, or a kind (read, edit, shell, …)
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub tool: Option<String>,
    /// Only results that say that something failed
    #[arg(long, help_heading = "Filters")]
    pub errors: bool,
    /// Only messages that the active fold took out of the context or shortened
    #[arg(long, help_heading = "Filters")]
    pub folded: bool,
    /// Only these messages (12-80; 12- to the end)
    #[arg(long, value_name = "A-B", help_heading = "Filters", hide_short_help = true)]
    pub range: Option<String>,
    /// Lines to show around each line that matches (up to 50)
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    pub context: usize,
    /// At most this many messages (up to 50)
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: u32,
    /// Hits to skip: those of earlier pages
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    pub skip: u32,
}

/// The arguments of `midfold recall outline`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall outline $id
  midfold recall outline $id --folded --from 120 --limit 100

A line begins with the number of the message (@12): what `midfold recall show` takes.")]
pub struct OutlineArgs {
    /// The session; or a transcript
    #[arg(value_name = "ID|FILE")]
    pub id: String,
    /// The first message
    #[arg(long, value_name = "N", default_value = "0", hide_short_help = true)]
    pub from: String,
    /// At most this many messages (up to 500)
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u32,
    /// Only messages that the active fold took out of the context or shortened
    #[arg(long)]
    pub folded: bool,
}

/// The arguments of `midfold recall names`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall names $id 'change the retry budget'")]
pub struct NamesArgs {
    /// The session; or a transcript
    #[arg(value_name = "ID|FILE")]
    pub id: String,
    /// The next piece of work, in words: names that share them come first
    #[arg(value_name = "QUESTION", default_value = "")]
    pub question: String,
    /// At most this many characters (up to 20,000)
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub max_chars: usize,
}

/// The arguments of `midfold recall show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold recall show $id @12
  midfold recall show $id 12,15,20-24
  midfold recall show $id 12 --from 12:L310
  midfold recall show $id active --max-chars 2000

@12 is message 12 of the log, counted from 0, as recaps, `find`, `outline` and `midfold session log` \
print it. A call comes with its result, and a result says which call it answers. The last line of a page is the \
command for the next one.")]
pub struct ShowArgs {
    /// The session; or a transcript
    #[arg(value_name = "ID|FILE")]
    pub id: String,
    /// A message (@12), a range (12-20, 12..20: both ends included), a list of them (12,15,20),
    /// `active` for all that the recap replaces, or a fold's id
    #[arg(value_name = "WHAT", required = true, num_args = 1..)]
    pub what: Vec<String>,
    /// Where to go on: a message (15), a character of it (15:4000) or a line of it (15:L310)
    #[arg(long, value_name = "PLACE", hide_short_help = true)]
    pub from: Option<String>,
    /// Characters of a page (up to 100,000)
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    pub max_chars: usize,
}

/// The arguments of `midfold recall describe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold recall describe $id")]
pub struct DescribeArgs {
    /// The session; or a transcript
    #[arg(value_name = "ID|FILE")]
    pub id: String,
    /// The fold: its number, or the start of its id [default: the active one]
    #[arg(value_name = "FOLD")]
    pub fold: Option<String>,
}

/// The arguments of `midfold recall tools`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold recall tools --shape anthropic")]
pub struct ToolsArgs {
    /// The form that the provider takes
    #[arg(long, value_name = "SHAPE", default_value = "openai")]
    pub shape: ToolsShape,
}

/// The forms in which providers expect tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolsShape {
    /// Chat Completions
    Openai,
    /// Messages
    Anthropic,
}

/// The arguments of `midfold worker`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold worker --base-url http://127.0.0.1:8080 --model small
  midfold worker --base-url https://api.openai.com/v1 --model gpt-5-mini --key-env OPENAI_API_KEY --once

Any service that speaks Chat Completions will do. Runs until it is told to stop (ctrl-c, SIGTERM): \
the job at hand is finished, or given back after a few seconds. Several workers may share a store.")]
pub struct WorkerArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The URL of the model's service
    #[arg(long, value_name = "URL")]
    pub base_url: String,
    /// The model's name at that service
    #[arg(long, value_name = "NAME")]
    pub model: String,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME", conflicts_with = "key_file", hide_short_help = true)]
    pub key_env: Option<String>,
    /// The file that holds the key
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub key_file: Option<PathBuf>,
    /// The model's window, in tokens: longer spans are sent in parts
    /// [default: that of the model, where it is known]
    #[arg(long, value_name = "N", value_parser = tokens, hide_short_help = true)]
    pub window: Option<u64>,
    /// Do the jobs that are due, then end; with 1 if a job failed
    #[arg(long)]
    pub once: bool,
    /// Jobs at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64), hide_short_help = true)]
    pub concurrency: u16,
    /// Milliseconds between two looks at an empty queue
    #[arg(long, value_name = "MS", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(10..), hide_short_help = true)]
    pub poll: u64,
}

/// The arguments of `midfold store`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold store export backup.jsonl
  midfold store load backup.jsonl --store postgres://me@db/midfold")]
pub struct StoreCommands {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The subcommand.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// The subcommands of `midfold store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Write sessions to a file, one record a line
    Export(ExportArgs),
    /// Read what `export` wrote; all or nothing where the file is damaged
    Load(LoadArgs),
    /// Delete sessions that did not change for long
    Prune(PruneArgs),
}

/// The arguments of `midfold store export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold store export backup.jsonl")]
pub struct ExportArgs {
    /// The file; `-` writes to standard output
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// The arguments of `midfold store load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold store load backup.jsonl")]
pub struct LoadArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The arguments of `midfold store prune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold store prune --older-than 30d
  midfold store prune --older-than 8w --yes

A session is as old as its last change: its making, its newest message, fold or call. Without --yes \
it prints what would be deleted, deletes nothing and ends with 1. What is deleted, and how, is as \
with `midfold session delete`.")]
pub struct PruneArgs {
    /// How long ago they last changed: hours, days or weeks (12h, 30d, 8w)
    #[arg(long, value_name = "AGE")]
    pub older_than: String,
    /// Delete; it cannot be undone
    #[arg(long)]
    pub yes: bool,
}
