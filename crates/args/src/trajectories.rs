//! The arguments of `midfold trajectories`.

use std::path::PathBuf;

use clap::Args;

use crate::common::tokens;

/// The arguments of `midfold trajectories`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold trajectories runs.jsonl -o train.jsonl
  midfold trajectories runs/ -o train.jsonl --target-tokens 29k --trainer llamafactory --resume
  midfold trajectories ~/.claude/projects -o train.jsonl --shape sharegpt
  midfold trajectories runs.jsonl.zst -o train.jsonl.zst --config trajectory_compression.yaml

One JSON object a line in and out, in the same order: `conversations` (ShareGPT) or `messages`. \
Transcripts that `midfold compact` reads become rows, one for each conversation. \
Files called .zst are packed with zstd; .parquet is read and written where midfold was built with \
it. The \
first turn of each kind and the last turns stay; as many turns after the first ones as necessary \
are replaced by one summary. Rows that fit stay the same bytes. Rows that cannot be used go to \
NAME.rejects.jsonl beside the output, with line and reason; metrics go to NAME.metrics.json.

Until it is done the output is called OUT.part. A run that was killed goes on with --resume.")]
pub struct TrajectoriesArgs {
    /// Files of rows or transcripts, or folders of them; `-` reads standard input
    #[arg(value_name = "IN", required = true)]
    pub input: Vec<PathBuf>,
    /// Write the rows to this file
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The most tokens a row may have [default: 15,250]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Folding")]
    pub target_tokens: Option<u64>,
    /// Tokens of these for the summary [default: 750]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Folding", hide_short_help = true)]
    pub summary_tokens: Option<u64>,
    /// How many turns stay at the end [default: 4]
    #[arg(long, value_name = "N", help_heading = "Folding")]
    pub keep_last: Option<usize>,
    /// Where the summary goes: human_turn, merge_into_previous_observation or user_message
    /// [default: what the trainer takes, else as a separate turn]
    #[arg(long, value_name = "PLACEMENT", help_heading = "Folding", hide_short_help = true)]
    pub placement: Option<String>,
    /// Add this text to the system turn of a row with a summary
    #[arg(long, value_name = "TEXT", help_heading = "Folding", hide_short_help = true)]
    pub notice: Option<String>,
    /// Reject rows that this trainer would drop or misread: llamafactory or trl
    #[arg(long, value_name = "TRAINER", help_heading = "Rows")]
    pub trainer: Option<String>,
    /// Cut off the turns that trainers refuse at the ends: before the user's first, and behind the
    /// last answer
    #[arg(long, requires = "trainer", help_heading = "Rows")]
    pub trim_turns: bool,
    /// Reject rows that are still over the limit, instead of writing them
    #[arg(long, help_heading = "Rows")]
    pub reject_over_limit: bool,
    /// The shape of rows that are made of transcripts: sharegpt or messages [default: what the
    /// trainer takes, else messages]
    #[arg(long, value_name = "SHAPE", help_heading = "Rows")]
    pub shape: Option<String>,
    /// A list beside the turns with one element for each, like `mask` (may be repeated)
    #[arg(long, value_name = "FIELD", help_heading = "Rows", hide_short_help = true)]
    pub align: Vec<String>,
    /// Which column of a Parquet file has the turns [default: conversations or messages]
    #[arg(long, value_name = "NAME", help_heading = "Rows", hide_short_help = true)]
    pub column: Option<String>,
    /// Put `compression_metrics` into rows with a summary
    #[arg(long, help_heading = "Rows", hide_short_help = true)]
    pub row_metrics: bool,
    /// How to count: o200k, cl100k, estimate:claude, chars:3.2, a tokenizer.json, …
    /// [default: o200k]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Measuring", hide_short_help = true)]
    pub tokenizer: Option<String>,
    /// Count every row, also those that cannot be too long, for exact metrics
    #[arg(long, help_heading = "Measuring", hide_short_help = true)]
    pub count_all: bool,
    /// Settings in YAML, as Hermes' trajectory compressor has them; options here win
    #[arg(long, value_name = "FILE", help_heading = "Running", hide_short_help = true)]
    pub config: Option<PathBuf>,
    /// How many rows to work on at once [default: the machine's cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Running", hide_short_help = true)]
    pub workers: Option<u16>,
    /// Bytes to read at once: as many are lost when a run is killed
    #[arg(long, value_name = "N", default_value_t = 1 << 20, hide = true)]
    pub chunk_bytes: usize,
    /// Go on where a run with the same settings was killed
    #[arg(long, help_heading = "Running")]
    pub resume: bool,
    /// Have this model write summaries: an OpenAI-compatible service. Where it fails, or says what
    /// no turn says, the computed summary is used
    #[arg(long, value_name = "URL", help_heading = "Summaries by a model")]
    pub model: Option<String>,
    /// The model's name at that service
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Summaries by a model",
        hide_short_help = true
    )]
    pub model_name: Option<String>,
    /// The environment variable that holds the key
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Summaries by a model",
        hide_short_help = true
    )]
    pub key_env: Option<String>,
    /// The file that holds the key
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "key_env",
        help_heading = "Summaries by a model",
        hide_short_help = true
    )]
    pub key_file: Option<PathBuf>,
    /// The model's window [default: built in, where the model is known]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Summaries by a model", hide_short_help = true)]
    pub model_window: Option<u64>,
    /// Keep answers in this folder, and reuse those that are there [default: NAME.summaries]
    #[arg(long, value_name = "DIR", help_heading = "Summaries by a model", hide_short_help = true)]
    pub cache: Option<PathBuf>,
    /// The most calls at once [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Summaries by a model", hide_short_help = true)]
    pub concurrency: Option<u16>,
    /// The most calls in a minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Summaries by a model", hide_short_help = true)]
    pub per_minute: Option<u32>,
}
