//! The arguments of `midfold measure exam`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::common::seconds;

/// The arguments of `midfold measure exam`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold measure exam
  midfold measure exam --quick --suite reading --lost
  midfold measure exam --preset default --engine 'python my_engine.py'
  midfold measure exam --exam my-exams/ --policy my-policy.toml --json > figures.json

Could an agent carry on from what is left? The reading exam walks a recorded conversation with \
questions, and looks for the answers in each context; the suites are made-up conversations with what \
the user ordered, what was decided, and texts that want it forgotten. No model is called, and no file \
is read but what is named here.

An engine outside reads one line of JSON on standard input for each compaction, {\"messages\": […], \
\"window\": N}, and answers with one line, {\"messages\": […]}. It is started for each conversation; \
several run at once.

A folder of exams has a file NAME.json with questions for each, and its conversation as \
messages/NAME.json or .jsonl. Its form: docs/COMPARE.md. What is measured: docs/MEASURES.md.")]
pub struct ExamArgs {
    /// Strategies to compare: presets, `raw`, `sliding`, `mask`, `clear` [default: default,lean,generous]
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
        help_heading = "Strategies", hide_short_help = true)]
    pub engine_timeout: Duration,
    /// Only this part (may be repeated) [default: all]
    #[arg(long, value_name = "NAME", help_heading = "Exam")]
    pub suite: Vec<ExamPart>,
    /// Exams of your own in place of ours; without --suite nothing else is done
    #[arg(long, value_name = "FOLDER", help_heading = "Exam")]
    pub exam: Option<PathBuf>,
    /// Only a third of each suite
    #[arg(long, help_heading = "Exam")]
    pub quick: bool,
    /// Say what was not kept, too
    #[arg(long, help_heading = "Output")]
    pub lost: bool,
    /// Write the contexts to this folder, for a reader, and the questions to ask
    #[arg(long, value_name = "DIR", help_heading = "Output", hide_short_help = true)]
    pub write: Option<PathBuf>,
}

/// A part of the exam.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExamPart {
    /// Recorded conversations with questions: what an agent has to know to carry on
    Reading,
    /// Orders that a user gives once, for good
    Standing,
    /// Small chats, compacted twice
    Small,
    /// Orders, and texts that try to make a model forget them
    Attack,
}

impl ExamPart {
    /// Its name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Standing => "standing",
            Self::Small => "small",
            Self::Attack => "attack",
        }
    }
}
