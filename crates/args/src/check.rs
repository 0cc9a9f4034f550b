//! The arguments of `midfold check`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::common::MeasureArgs;
use crate::session::StoreAt;

/// The arguments of `midfold check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold check file --before session.jsonl --after smaller.json
  midfold check session last
  midfold check store

Ends with 1 if a check fails.")]
pub struct CheckArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: CheckCommand,
}

/// The subcommands of `midfold check`.
#[derive(Debug, Subcommand)]
pub enum CheckCommand {
    /// Check a compacted transcript against the original
    File(VerifyArgs),
    /// Check the folds and calls of a session against its log, and print what each fold lost
    Session(AuditArgs),
    /// Compute every hash chain and account of the store again
    Store(StoreCheckArgs),
}

/// The arguments of `midfold check store`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold check store
  midfold check store --store postgres://me@db/midfold

Ends with 1 if something is wrong.")]
pub struct StoreCheckArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
}

/// The arguments of `midfold check file`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold check file --before session.jsonl --after smaller.json
  midfold check file --before session.jsonl --after smaller.json --record fold.json --json

Without a record: bytes, order, both ends, pairs, the provider's rules, the budget, secrets. With a \
record also the fold itself: span, entries, edits, accounts, token counts, pins, grounding. Where \
there is no --window, the budget is that of the record, or the window of the model in the file.")]
pub struct VerifyArgs {
    /// The original transcript
    #[arg(long, value_name = "FILE")]
    pub before: PathBuf,
    /// The compacted transcript
    #[arg(long, value_name = "FILE")]
    pub after: PathBuf,
    /// The record that `compact --record` wrote: the fold itself is checked, too
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// What --before is written in [default: detected from its content]
    #[arg(long, value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<String>,
    /// The dialect that --before was converted to
    #[arg(long, value_name = "DIALECT", help_heading = "Formats")]
    pub to: Option<String>,
    /// How tokens are counted, and what they have to fit.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// The arguments of `midfold check session`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold check session $id
  midfold check session --all --json
  midfold check session session.jsonl

Ends with 1 if a check fails.")]
pub struct AuditArgs {
    /// The store.
    #[command(flatten)]
    pub at: StoreAt,
    /// The session; or a transcript
    #[arg(value_name = "ID|FILE", required_unless_present = "all")]
    pub id: Option<String>,
    /// All sessions of the store
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
}
