//! Why a call failed, as a value that can leave a thread without Python, and as the exception of
//! `midfold` that it becomes.

use midfold::{Advise, Area, Door, Failure as Told};
use pyo3::prelude::*;

// Written in Python: the stable interface cannot extend an exception with data before 3.12.
pyo3::import_exception!(midfold._errors, BudgetError);
pyo3::import_exception!(midfold._errors, InputError);
pyo3::import_exception!(midfold._errors, PolicyError);
pyo3::import_exception!(midfold._errors, StoreError);
pyo3::import_exception!(midfold._errors, TokenizerError);

/// Why a call failed, and what to do about it.
#[derive(Debug)]
pub struct Failure(Told);

impl Failure {
    pub fn new(area: Area, message: impl Into<String>) -> Self {
        Self(Told::new(area, message))
    }

    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Area::Input, message)
    }

    /// `name` is not among `known`.
    pub fn unknown(area: Area, what: &str, name: &str, known: &[&str]) -> Self {
        Self(Told::unknown(area, what, name, known))
    }

    /// Adds a hint, after those that are there.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.hint(hint))
    }
}

impl<E: Advise> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.advise(Door::Python))
    }
}

impl From<Failure> for PyErr {
    fn from(Failure(told): Failure) -> Self {
        let hint = (!told.hints.is_empty()).then(|| told.hints.join("; "));
        let args = (told.message, hint);
        match told.area {
            Area::Policy => PolicyError::new_err(args),
            Area::Budget => BudgetError::new_err(args),
            Area::Store => StoreError::new_err(args),
            Area::Tokenizer => TokenizerError::new_err(args),
            _ => InputError::new_err(args),
        }
    }
}
