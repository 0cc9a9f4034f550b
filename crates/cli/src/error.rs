//! The error of a command: why it failed, and what the user can do about it.

use midfold::{AdvisedError, Door, Failure};

/// One clear message, hints, and the exit code of the process.
#[derive(Debug)]
pub struct CommandError {
    /// Says what is wrong, and where.
    pub message: String,
    /// Hints for the user. Each says one thing to do.
    pub hints: Vec<String>,
    /// 1: a failed check or an unusable input. 2: wrong usage. 0: no error, but nobody reads our output any more.
    pub code: u8,
}

impl CommandError {
    /// A failed check, or an input that cannot be used. The exit code is 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: 1 }
    }

    /// Wrong usage of the command. The exit code is 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: 2 }
    }

    /// Ends the command without a message, because the output says enough already.
    pub fn silent(code: u8) -> Self {
        Self { message: String::new(), hints: Vec::new(), code }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint where there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }
}

impl<E: AdvisedError> From<E> for CommandError {
    fn from(error: E) -> Self {
        let Failure { is_usage, message, hints, .. } = error.advise(Door::Command);
        Self { message, hints, code: if is_usage { 2 } else { 1 } }
    }
}
