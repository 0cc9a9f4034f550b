//! The reason why a call failed. It is thrown as an error whose reason is JSON, which the package in `node/` reads.

use midfold::{AdvisedError, Door, Failure as Told, FailureArea};
use serde::Serialize;

/// Why a call failed, and what to do about it.
#[derive(Debug)]
pub struct Failure(Told);

#[derive(Serialize)]
struct Reason<'a> {
    area: &'static str,
    message: &'a str,
    hints: &'a [String],
}

/// The result of a call.
pub type NodeResult<T> = Result<T, Failure>;

impl<E: AdvisedError> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.advise(Door::Node))
    }
}

impl Failure {
    /// A failure for input that cannot be used.
    pub fn input(message: impl Into<String>) -> Self {
        Self(Told::new(FailureArea::Input, message))
    }

    /// Adds a hint, after those that are there.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.hint(hint))
    }
}

impl From<Failure> for napi::Error {
    fn from(Failure(failure): Failure) -> Self {
        let area = match failure.area {
            FailureArea::Policy => "policy",
            FailureArea::Budget => "budget",
            FailureArea::Store => "store",
            FailureArea::Tokenizer => "tokenizer",
            _ => "input",
        };
        let reason = Reason { area, message: &failure.message, hints: &failure.hints };
        let json = serde_json::to_string(&reason).unwrap_or(failure.message);
        Self::from_reason(json)
    }
}

/// An answer as JSON.
pub fn json(value: &impl Serialize) -> napi::Result<String> {
    Ok(serde_json::to_string(value).map_err(Failure::from)?)
}
