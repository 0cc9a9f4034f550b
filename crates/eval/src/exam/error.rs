//! What went wrong, for people.

use std::fmt;

/// A sentence that says what could not be done, and where.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExamError(pub String);

/// A result of this crate.
pub type ExamResult<T> = Result<T, ExamError>;

/// Says where something went wrong.
pub trait ErrorPlace<T> {
    /// Puts the place before what went wrong.
    ///
    /// # Errors
    /// Where there was an error.
    fn at(self, place: impl fmt::Display) -> ExamResult<T>;
}

impl<T, E: fmt::Display> ErrorPlace<T> for Result<T, E> {
    fn at(self, place: impl fmt::Display) -> ExamResult<T> {
        self.map_err(|error| ExamError(format!("{place}: {error}")))
    }
}
