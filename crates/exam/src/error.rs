//! What went wrong, for people.

use std::fmt;

/// A sentence that says what could not be done, and where.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Says where something went wrong.
pub trait At<T> {
    /// Puts the place before what went wrong.
    ///
    /// # Errors
    /// Where there was an error.
    fn at(self, place: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> At<T> for std::result::Result<T, E> {
    fn at(self, place: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error(format!("{place}: {error}")))
    }
}
