//! The arguments of `midfold measure`.

use clap::{Args, Subcommand};

use crate::exam::ExamArgs;
use crate::replay::ReplayArgs;

/// The arguments of `midfold measure`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold measure replay session.jsonl --window 32k
  midfold measure exam --quick")]
pub struct MeasureCommands {
    /// The subcommand.
    #[command(subcommand)]
    pub command: MeasureCommand,
}

/// The subcommands of `midfold measure`.
#[derive(Debug, Subcommand)]
pub enum MeasureCommand {
    /// Replay recorded conversations under several strategies: what is kept, at which cost
    Replay(Box<ReplayArgs>),
    /// Examine strategies: could an agent carry on from what is left, are the user's orders still there
    Exam(Box<ExamArgs>),
}
