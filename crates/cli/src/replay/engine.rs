//! Starts external engines, with messages of the command where one cannot start.

use std::sync::Arc;
use std::time::Duration;

use midfold_eval::exam::engine::{ExamEngine, NoEngine};

use crate::error::CommandError;

/// The protocol of an engine, for messages.
pub const PROTOCOL: &str =
    "it reads a JSON line with `messages` and `window`, and answers with one with `messages`";

/// Starts a command line, which is split into words as by a shell.
pub fn start(command: &str, limit: Duration) -> Result<Arc<ExamEngine>, CommandError> {
    ExamEngine::start(command, limit).map(Arc::new).map_err(|error| not_started(command, &error))
}

/// Starts a program with its arguments.
pub fn of(words: Vec<String>, limit: Duration) -> Result<Arc<ExamEngine>, CommandError> {
    ExamEngine::of(words, limit).map(Arc::new).map_err(|error| not_started("", &error))
}

fn not_started(command: &str, error: &NoEngine) -> CommandError {
    match error {
        NoEngine::Quote => CommandError::usage(format!("--engine {command}: {error}")),
        NoEngine::Empty => CommandError::usage("--engine is given no command"),
        NoEngine::Start(text) => CommandError::failed(text.clone())
            .hint("an engine is a program and its arguments: 'python engine.py'"),
    }
}
