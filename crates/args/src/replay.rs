//! The arguments of `midfold measure replay`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::common::{seconds, tokens};

/// The arguments of `midfold measure replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold measure replay session.jsonl
  midfold measure replay session.jsonl --window 32k
  midfold measure replay transcripts/ --window 16k,32k --preset default,head-tail -o report.html
  midfold measure replay session.jsonl --window 32k --engine 'python my_engine.py'

Every request of a recorded conversation is projected as each strategy would have sent it, and \
checked against what the agent really used next. No model is called. What is measured, and how: \
docs/MEASURES.md.

An engine outside reads one line of JSON on standard input for each fold, {\"messages\": […], \
\"window\": N}, and answers with one line, {\"messages\": […]}. It is started for each conversation in each window.")]
pub struct ReplayArgs {
    /// Transcripts, or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Which conversations are replayed, and how they are measured.
    #[command(flatten)]
    pub measure: ReplayMeasure,
    /// Strategies to compare: presets, `raw`, `sliding`, `mask`, `clear` [default: all]
    #[arg(long, value_name = "PRESET[,…]", value_delimiter = ',', help_heading = "Strategies")]
    pub preset: Vec<String>,
    /// A policy of your own, as TOML (may be repeated)
    #[arg(long, value_name = "FILE", help_heading = "Strategies")]
    pub policy: Vec<PathBuf>,
    /// An engine outside, as a command (may be repeated)
    #[arg(long, value_name = "CMD", help_heading = "Strategies")]
    pub engine: Vec<String>,
    /// How long an engine may take for an answer, in seconds
    #[arg(
        long,
        value_name = "S",
        default_value = "120",
        value_parser = seconds,
        requires = "engine",
        help_heading = "Strategies"
    )]
    pub engine_timeout: Duration,
    /// What an engine outside gets for each fold: its own last output with the messages since, the whole history, or both,
    /// in one run each
    #[arg(long, value_name = "FORM", default_value = "stateless", help_heading = "Strategies")]
    pub form: EngineForm,
    /// Have this model narrate: an OpenAI-compatible service. Adds one run in session form for each policy, whose cost
    /// includes the prompts and replies of the narrations
    #[arg(long, value_name = "URL", help_heading = "Narration")]
    pub model: Option<String>,
    /// The model's name at that service
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Narration")]
    pub model_name: String,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME", help_heading = "Narration")]
    pub key_env: Option<String>,
    /// Write a page with pictures to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Show these figures of the reading exam on the page, too: what `midfold measure exam --json` printed
    #[arg(long, value_name = "FILE", requires = "output", help_heading = "Output")]
    pub exam: Option<PathBuf>,
}

/// Flags that choose the conversations of a replay, and how they are measured.
#[derive(Debug, Args)]
pub struct ReplayMeasure {
    /// The windows, in tokens [default: that of the model that the first conversation names, else 128,000]
    #[arg(
        long,
        value_name = "N[,…]",
        value_delimiter = ',',
        value_parser = tokens,
        help_heading = "Measuring"
    )]
    pub window: Vec<u64>,
    /// Only conversations longer than this many windows
    #[arg(long, value_name = "R", default_value_t = 1.2, help_heading = "Measuring")]
    pub longer_than: f64,
    /// How to count: o200k, estimate:claude, chars:3.2, …
    #[arg(
        long,
        value_name = "NAME|FILE|chars:R",
        default_value = "chars:3.2",
        help_heading = "Measuring"
    )]
    pub tokenizer: String,
    /// The rules of the provider that contexts are checked against
    #[arg(long, value_name = "PROFILE", help_heading = "Measuring")]
    pub profile: Option<String>,
    /// What the files are written in [default: detected from their content]
    #[arg(long, value_name = "FORMAT", help_heading = "Measuring")]
    pub from: Option<String>,
    /// Convert the files to this dialect first: openai-chat, anthropic, gemini, bedrock, ollama or sharegpt (an engine outside may
    /// know only one)
    #[arg(long, value_name = "DIALECT", help_heading = "Measuring")]
    pub to: Option<String>,
    /// Prices: the name of a built-in table, or a TOML file [default: reference]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Measuring")]
    pub prices: Option<String>,
    /// How long the cache keeps an unused prefix, in files with times [default: as the prices say]
    #[arg(long, value_name = "TIME", help_heading = "Measuring")]
    pub cache_lifetime: Option<CacheLifetime>,
    /// Conversations to work on at once [default: one a core]
    #[arg(long, value_name = "N", help_heading = "Measuring")]
    pub jobs: Option<usize>,
}

/// The time for which a provider's cache keeps a prefix that no request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CacheLifetime {
    /// Five minutes
    #[value(name = "5m")]
    FiveMinutes,
    /// An hour, for which writing may cost more
    #[value(name = "1h")]
    Hour,
    /// No time: the cache keeps everything for ever
    Never,
}

/// The history that an engine keeps between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineForm {
    /// Its own last output and what came since, as repeated `midfold compact` would
    Stateless,
    /// The whole history
    Session,
    /// Both, one after the other
    Both,
}
