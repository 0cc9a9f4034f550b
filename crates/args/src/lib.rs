//! The arguments of the command line.
//!
//! This crate has no code of the commands and does not depend on the engine, so that both are compiled at the same
//! time. A value that only the engine can parse therefore stays text here.

mod about;
mod check;
mod common;
mod connect;
mod doctor;
mod exam;
mod groups;
mod hooks;
mod key;
mod mcp;
mod measure;
mod narration;
mod print;
mod renamed;
mod replay;
mod run;
mod serve;
mod session;
mod stores;
mod top;
mod trajectories;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};

pub use about::{CompletionsArgs, ConfigArgs, LoggingArgs, ManArgs, Shell};
pub use check::{AuditArgs, CheckArgs, CheckCommand, StoreCheckArgs, VerifyArgs};
pub use common::{ColorChoice, FoldingArgs, MeasureArgs, tokens};
pub use connect::{ConnectArgs, ConnectedClient};
pub use doctor::DoctorArgs;
pub use exam::{ExamArgs, ExamPart};
pub use groups::GROUPS;
pub use hooks::{HookCallArgs, HooksArgs, HooksCommand, SettingsScope};
pub use key::{KeyCommand, KeyCommands, KeysFile, NewKey, RemoveKey, ScopeName};
pub use mcp::McpArgs;
pub use measure::{MeasureCommand, MeasureCommands};
pub use narration::NarrationArgs;
pub use print::{PresetsArgs, PrintArgs, PrintCommand, SchemaArgs, SchemaOf};
pub use renamed::{RENAMED, RenamedCommand, present};
pub use replay::{CacheLifetime, EngineForm, ReplayArgs, ReplayMeasure};
pub use run::RunArgs;
pub use serve::{CompactedBy, ProxyArgs, RecallUse, ServeArgs, ServeCommand};
pub use session::{
    AppendArgs, CompactionArgs, ContextArgs, DeleteArgs, ForkArgs, ListArgs, LogArgs, ModelArgs,
    NewSessionArgs, ObserveArgs, PinArgs, PolicyArgs, RecoverArgs, SessionArgs, SessionCommand,
    SessionPolicyArgs, StartArgs, StatusArgs, StoreAt, UndoArgs,
};
pub use stores::{
    DescribeArgs, ExplainArgs, ExportArgs, FindArgs, ImportArgs, LoadArgs, NamesArgs, OutlineArgs,
    PruneArgs, RecallArgs, RecallCommand, ShowArgs, StoreCommand, StoreCommands, ToolsArgs,
    ToolsShape, WorkerArgs,
};
pub use top::TopArgs;
pub use trajectories::TrajectoriesArgs;

/// The version of the command. All crates of the workspace have the same version, so it is that of this crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Keep the ends, fold the middle: compaction of LLM agent transcripts.
#[derive(Debug, Parser)]
#[command(name = "midfold", version = VERSION, styles = STYLES, max_term_width = 100)]
#[command(disable_help_flag = true)]
#[command(after_help = "\
Examples:
  midfold run -- claude
  midfold compact session.jsonl -o smaller.json
  midfold recall find 'connection refused'

Exit codes: 0 done, 1 a failed check or an input that cannot be used, 2 wrong usage.")]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
    /// Print help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    pub help: Option<bool>,
    /// Print help with the rare options
    #[arg(long, global = true, action = ArgAction::HelpLong)]
    pub help_all: Option<bool>,
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub json: bool,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub color: ColorChoice,
    /// Which logs are written, and where.
    #[command(flatten)]
    pub logging: LoggingArgs,
}

/// The whole command, with its subcommands in [`GROUPS`].
///
/// ```
/// let help = midfold_args::command().render_help().to_string();
/// assert!(help.contains("Sessions:\n  session"));
/// ```
#[must_use]
pub fn command() -> clap::Command {
    groups::grouped(Cli::command())
}

/// The commands of `midfold`. [`GROUPS`] has the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an agent through a proxy of its own, and say what that saved
    Run(Box<RunArgs>),
    /// Be the proxy between an agent and its provider: fold what does not fit
    Serve(Box<ServeArgs>),
    /// Compact a transcript: verbatim ends, folded middle
    Compact(Box<CompactArgs>),
    /// Bring back what a fold took out of the context
    Recall(RecallArgs),
    /// Say whether the model saw a text, and if not, when it left and why
    Explain(ExplainArgs),
    /// Check what midfold needs, and say what to do about it
    Doctor(Box<DoctorArgs>),
    /// Keep a conversation in a store: append, context, compact, undo
    Session(Box<SessionArgs>),
    /// Load the conversations of a transcript into the store
    Import(Box<ImportArgs>),
    /// Export, load and prune a whole store
    Store(StoreCommands),
    /// Watch sessions in the terminal: how full, what each fold did
    Top(TopArgs),
    /// Check a compacted file, a session or a store
    Check(Box<CheckArgs>),
    /// Put midfold into the settings of a client, without a proxy
    Connect(ConnectArgs),
    /// Be the server with which an agent recalls what was folded (MCP)
    Mcp(McpArgs),
    /// Have a model write the narrations that wait in the queue
    Worker(Box<WorkerArgs>),
    /// Show what a transcript is made of and what each preset would do
    Inspect(InspectArgs),
    /// Compare strategies: what is kept, at which cost, and is it enough
    Measure(MeasureCommands),
    /// Shorten rows of training sets that are too long, by one summary in each
    Trajectories(Box<TrajectoriesArgs>),
    /// Print presets, settings, schemas, completions and man pages
    Print(PrintArgs),
    /// What a connected client calls
    #[command(hide = true)]
    Hooks(HooksArgs),
}

/// The arguments of `midfold compact`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold compact session.jsonl -o smaller.json
  midfold compact request.json --window 32k --record fold.json > smaller.json
  midfold compact session.jsonl --preview --preset head-tail
  midfold compact session.jsonl --show-recap
  midfold compact runs/ -o smaller/ --record records/
  midfold compact session.jsonl -o smaller.json --model http://127.0.0.1:8080
  cat request.json | midfold compact - --if-needed --json | jq .fold.tokens_after

The result goes to standard output, the report to standard error. On a terminal without -o the \
report and a picture of the layout are shown instead of the result.

With --show-recap, standard output is the text that the model reads where messages were folded, and \
nothing else: with -o the result is in that file, without it no result is written.

The result is in the dialect of the input. A request body keeps everything but its messages; a list \
of messages or a session file becomes a JSON array (or a body, when it has a system prompt or tools); \
one message a line stays one message a line. A file with several conversations gives one JSON line \
each; line breaks outside of strings become spaces there.

A folder stands for the transcripts in it and below it: files that end in .jsonl, .json or .traj, also \
packed (.gz, .zst). Each result is written under the same relative path in the folder of -o, which \
must lie outside, and each record as PATH.json in that of --record. A transcript that needs no fold \
is copied as it is, unpacked. A file that cannot be compacted is named, the others are done, and the \
exit code is 1. With --json, standard output has one object for each file.")]
pub struct CompactArgs {
    /// The transcript; several, or folders of them; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What the files are written in [default: detected from their content]
    #[arg(long, value_name = "FORMAT", help_heading = "Formats", hide_short_help = true)]
    pub from: Option<String>,
    /// Convert to this dialect, before compacting: openai-chat, anthropic, gemini, bedrock, ollama or sharegpt
    #[arg(long, value_name = "DIALECT", help_heading = "Formats")]
    pub to: Option<String>,
    /// How tokens are counted, and what they have to fit.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// The policy.
    #[command(flatten)]
    pub folding: FoldingArgs,
    /// At most this many tokens after the fold
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Folding")]
    pub target: Option<u64>,
    /// What the recap should keep before anything else
    #[arg(long, value_name = "TEXT", help_heading = "Folding")]
    pub focus: Option<String>,
    /// Keep messages whose text matches, verbatim (may be repeated)
    #[arg(long, value_name = "REGEX", help_heading = "Folding", hide_short_help = true)]
    pub pin: Vec<String>,
    /// Keep at least the last N messages, verbatim
    #[arg(long, value_name = "N", help_heading = "Folding", hide_short_help = true)]
    pub keep_last: Option<usize>,
    /// Fold only if the policy's trigger fires [default: always try]
    #[arg(long, help_heading = "Folding")]
    pub if_needed: bool,
    /// The model that narrates.
    #[command(flatten)]
    pub narrator: NarratorArgs,
    /// Say what would be done, print the recap, and write nothing; no model is asked
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "record", "show_recap"])]
    pub preview: bool,
    /// Say how much of a prompt the next turn repeats, for the provider's cache: under a static
    /// marker, under a recap made anew each turn, and under a fold that stays. Writes nothing
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "record", "show_recap", "preview", "model"], hide_short_help = true)]
    pub cache_check: bool,
    /// Print the recap, alone: the text that replaces the folded messages
    #[arg(long, help_heading = "Output")]
    pub show_recap: bool,
    /// Write the record of the fold to this file; of several transcripts into this folder
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub record: Option<PathBuf>,
    /// Write the result to this file; of several transcripts into this folder
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// Flags that name a model to narrate, which the command waits for.
#[derive(Debug, Args)]
pub struct NarratorArgs {
    /// Have this model write a part of the recap: an OpenAI-compatible service. It is waited for;
    /// where it fails, or most of what it says is not in the conversation, the computed recap is used
    #[arg(long, value_name = "URL", help_heading = "Narration")]
    pub model: Option<String>,
    /// The model's name at that service
    #[arg(
        long,
        value_name = "NAME",
        default_value = "default",
        help_heading = "Narration",
        hide_short_help = true
    )]
    pub model_name: String,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME", help_heading = "Narration", hide_short_help = true)]
    pub key_env: Option<String>,
    /// The file that holds the key
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "key_env",
        help_heading = "Narration",
        hide_short_help = true
    )]
    pub key_file: Option<PathBuf>,
    /// The model's window [default: built in, where the model is known]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Narration", hide_short_help = true)]
    pub model_window: Option<u64>,
}

/// The arguments of `midfold inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold inspect session.jsonl
  midfold inspect runs.jsonl --only 3 --window 32k
  midfold inspect runs/ --preset lean

Of a folder, or of several files, each conversation has a line: its format, its size, how much of the \
window it takes, and whether the policy would fold it. Files that cannot be read are named on standard \
error; the exit code is 0 when at least one could.")]
pub struct InspectArgs {
    /// The transcript; several, or folders of them; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What the files are written in [default: detected from their content]
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    pub from: Option<String>,
    /// How tokens are counted, and what they have to fit.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// The policy.
    #[command(flatten)]
    pub folding: FoldingArgs,
    /// Only conversation N of several (from 1)
    #[arg(long, value_name = "N")]
    pub only: Option<usize>,
    /// Draw what became of every message, fold by fold; with =N tell what fold N did
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0"
    )]
    pub fold: Option<usize>,
}
