//! The error of an exam, for people.

use std::fmt;

/// A sentence that says what could not be done, and where.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExamError(pub String);

/// A result of this crate.
pub type ExamResult<T> = Result<T, ExamError>;

/// Adds to an error the place where it happened.
pub trait ErrorPlace<T> {
    /// Puts the place before the error's text.
    ///
    /// # Errors
    /// The error with its place.
    fn at(self, place: impl fmt::Display) -> ExamResult<T>;
}

impl<T, E: fmt::Display> ErrorPlace<T> for Result<T, E> {
    fn at(self, place: impl fmt::Display) -> ExamResult<T> {
        self.map_err(|error| ExamError(format!("{place}: {error}")))
    }
}
