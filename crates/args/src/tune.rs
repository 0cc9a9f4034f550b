//! `midfold tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::replay::ReplayMeasure;

/// What `midfold tune` is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold tune transcripts/ --window 32k
  midfold tune transcripts/ --window 16k,32k --prefer cost -o policy.toml
  midfold compact session.jsonl --policy policy.toml

Policies are replayed on half of the conversations, a step at a time from `default`; the best is \
tried once on the other half, and kept only if it is better there, too. No model is called. How \
the search works and what it calls better: docs/MEASURES.md.")]
pub struct Tune {
    /// Transcripts, or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What is replayed, and how it is counted.
    #[command(flatten)]
    pub measure: ReplayMeasure,
    /// Policies to try, `default` among them
    #[arg(
        long,
        value_name = "N",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Search"
    )]
    pub tries: u32,
    /// What is wanted
    #[arg(long, value_name = "WHAT", default_value = "recall", help_heading = "Search")]
    pub prefer: Wish,
    /// Write the policy to this file, as TOML for --policy
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// What is wanted of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wish {
    /// The best at-risk retention at no more than the cost of `default`
    Recall,
    /// The least cost at no less than the at-risk retention of `default`
    Cost,
    /// The most at-risk retention less cost
    Balance,
}
