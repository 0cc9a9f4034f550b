//! What can be asked on the command line.

mod replay;
mod session;
mod stores;
mod trajectories;
mod tune;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use replay::{Form, Reading, Replay, ReplayMeasure};
pub use session::{
    Append, Compaction, Context, Fork, List, Log, New, Observe, Pin, Recover, Session,
    SessionCommand, Start, Status, StoreAt, Undo,
};
pub use stores::{
    Audit, Describe, Expand, Explain, Export, Grep, Import, Load, Names, Recall, RecallCommand,
    StoreCommand, StoreCommands, Tools, ToolsShape, Worker,
};
pub use trajectories::Trajectories;
pub use tune::{Tune, Wish};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Keep the ends, fold the middle: compaction of LLM agent transcripts.
#[derive(Debug, Parser)]
#[command(name = "midfold", version, styles = STYLES, max_term_width = 100)]
#[command(after_help = "\
Examples:
  midfold compact session.jsonl -o smaller.json
  midfold session new --window 128k

Exit codes: 0 done, 1 a failed check or an input that cannot be used, 2 wrong usage.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub json: bool,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: When,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compact a transcript: verbatim ends, folded middle
    Compact(Box<Compact>),
    /// Show what a transcript is made of and what each preset would do
    Inspect(Inspect),
    /// Check a compacted transcript against the original
    Verify(Verify),
    /// Keep a conversation in a store: append, get the context to send, compact, undo
    Session(Box<Session>),
    /// Load the conversations of a transcript into the store
    Import(Box<Import>),
    /// Say whether the model saw a text, and if not, when it left and why
    Explain(Explain),
    /// Check the folds and calls of a session against its log, and print what each fold lost
    Audit(Audit),
    /// Bring back what a fold took out of the context
    Recall(Recall),
    /// Have a model narrate what waits in the queue
    Worker(Box<Worker>),
    /// Check, export and import a whole store
    Store(StoreCommands),
    /// Replay recorded conversations under several strategies: what is kept, at which cost
    Replay(Box<Replay>),
    /// Make rows of training sets fit, with one summary in each that is too long
    Trajectories(Box<Trajectories>),
    /// Search for a policy that suits your own conversations better than `default`
    Tune(Box<Tune>),
    /// List the presets, or print one
    Presets(Presets),
    /// Print the JSON schema of a fold record or of a policy
    Schema(Schema),
}

/// How the tokens of a transcript are counted and what they have to fit.
#[derive(Debug, Args)]
pub struct Measure {
    /// The window to fit, in tokens [default: that of the model named in the file, else 128,000]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Measuring")]
    pub window: Option<u64>,
    /// How to count: o200k, cl100k, estimate:claude, chars:3.2, a tokenizer.json, …
    /// [default: what fits the model named in the file]
    #[arg(long, value_name = "NAME|FILE|chars:R", help_heading = "Measuring")]
    pub tokenizer: Option<String>,
    /// The rules of the provider that the result goes to: openai, responses, anthropic, strict,
    /// deepseek, sharegpt [default: the provider of the dialect]
    #[arg(long, value_name = "PROFILE", help_heading = "Measuring")]
    pub profile: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold compact session.jsonl -o smaller.json
  midfold compact request.json --window 32k --record fold.json > smaller.json
  midfold compact session.jsonl --preview --preset head-tail
  cat request.json | midfold compact - --if-needed --json | jq .fold.tokens_after

The result goes to standard output, the report to standard error. On a terminal without -o the \
report and a picture of the layout are shown instead of the result.

The result is in the dialect of the input. A request body keeps everything but its messages; a list \
of messages or a session file becomes a JSON array (or a body, when it has a system prompt or tools); \
one message a line stays one message a line. A file with several conversations gives one JSON line \
each; line breaks outside of strings become spaces there.")]
pub struct Compact {
    /// The transcript; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What the file is written in [default: told by its content]
    #[arg(long, value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<String>,
    /// Convert to this dialect, before compacting: openai-chat or anthropic
    #[arg(long, value_name = "DIALECT", help_heading = "Formats")]
    pub to: Option<String>,
    #[command(flatten)]
    pub measure: Measure,
    /// When and how to fold: see `midfold presets` [default: default]
    #[arg(long, value_name = "PRESET", help_heading = "Folding", conflicts_with = "policy")]
    pub preset: Option<String>,
    /// A policy of your own, as TOML; `base = "default"` starts from a preset
    #[arg(long, value_name = "FILE", help_heading = "Folding")]
    pub policy: Option<PathBuf>,
    /// At most this many tokens after the fold
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Folding")]
    pub target: Option<u64>,
    /// What the recap should keep before anything else
    #[arg(long, value_name = "TEXT", help_heading = "Folding")]
    pub focus: Option<String>,
    /// Keep messages whose text matches, verbatim (may be repeated)
    #[arg(long, value_name = "REGEX", help_heading = "Folding")]
    pub pin: Vec<String>,
    /// Keep at least the last N messages, verbatim
    #[arg(long, value_name = "N", help_heading = "Folding")]
    pub keep_last: Option<usize>,
    /// Only when the policy's trigger fires; otherwise a fold is always tried
    #[arg(long, help_heading = "Folding")]
    pub if_needed: bool,
    /// Say what would be done and do nothing
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "record"])]
    pub preview: bool,
    /// Write the record of the fold to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub record: Option<PathBuf>,
    /// Write the result to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold inspect session.jsonl
  midfold inspect runs.jsonl --only 3 --window 32k")]
pub struct Inspect {
    /// The transcript; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What the file is written in [default: told by its content]
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,
    #[command(flatten)]
    pub measure: Measure,
    /// The preset whose layout is drawn
    #[arg(long, value_name = "PRESET", default_value = "default")]
    pub preset: String,
    /// Of several conversations, only number N (from 1)
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold verify --before session.jsonl --after smaller.json
  midfold verify --before session.jsonl --after smaller.json --record fold.json --json

Without a record: bytes, order, both ends, pairs, the provider's rules, the budget, secrets. With a \
record also the fold itself: span, entries, edits, accounts, token counts, pins, grounding. Where \
there is no --window, the budget is that of the record, or the window of the model in the file.")]
pub struct Verify {
    /// The original transcript
    #[arg(long, value_name = "FILE")]
    pub before: PathBuf,
    /// The compacted one
    #[arg(long, value_name = "FILE")]
    pub after: PathBuf,
    /// The record that `compact --record` wrote: the fold itself is checked, too
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// What --before is written in [default: told by its content]
    #[arg(long, value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<String>,
    /// The dialect that it was converted to
    #[arg(long, value_name = "DIALECT", help_heading = "Formats")]
    pub to: Option<String>,
    #[command(flatten)]
    pub measure: Measure,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold presets
  midfold presets default > my-policy.toml")]
pub struct Presets {
    /// Print this preset, with its comments
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold schema policy > policy.schema.json")]
pub struct Schema {
    /// Of what
    #[arg(value_name = "WHAT", default_value = "fold")]
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// The record of one compaction
    Fold,
    /// A policy file
    Policy,
}

/// `90` or `0.5`, in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    number
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "write a number of seconds: 90, 0.5".to_owned())
}

/// `32000`, `32_000`, `32,000`, `32k` or `1m`.
pub(crate) fn tokens(text: &str) -> Result<u64, String> {
    let digits = text.replace(['_', ','], "").to_ascii_lowercase();
    let (digits, unit) = match digits.strip_suffix('k') {
        Some(rest) => (rest, 1_000),
        None => digits.strip_suffix('m').map_or((digits.as_str(), 1), |rest| (rest, 1_000_000)),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0);
    number.ok_or_else(|| "write a number of tokens: 32000, 32k, 1m".to_owned())
}
