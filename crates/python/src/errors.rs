//! The reason why a call failed. It is a plain value, so that it can be made while the interpreter is released; it
//! becomes an exception of `midfold` when the call returns.

use midfold::{AdvisedError, Door, Failure as Told, FailureArea};
use pyo3::prelude::*;

// These exceptions are written in Python, because the stable C interface cannot add data to an exception before Python
// 3.12.
pyo3::import_exception!(midfold._errors, BudgetError);
pyo3::import_exception!(midfold._errors, InputError);
pyo3::import_exception!(midfold._errors, PolicyError);
pyo3::import_exception!(midfold._errors, StoreError);
pyo3::import_exception!(midfold._errors, TokenizerError);

/// Why a call failed, and what to do about it.
#[derive(Debug)]
pub struct Failure(Told);

impl Failure {
    pub fn new(area: FailureArea, message: impl Into<String>) -> Self {
        Self(Told::new(area, message))
    }

    pub fn input(message: impl Into<String>) -> Self {
        Self::new(FailureArea::Input, message)
    }

    /// `name` is not among `known`.
    pub fn unknown(area: FailureArea, noun: &str, name: &str, known: &[&str]) -> Self {
        Self(Told::unknown(area, noun, name, known))
    }

    /// Adds a hint, after those that are there.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.hint(hint))
    }
}

impl<E: AdvisedError> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.advise(Door::Python))
    }
}

impl From<Failure> for PyErr {
    fn from(Failure(failure): Failure) -> Self {
        let hint = (!failure.hints.is_empty()).then(|| failure.hints.join("; "));
        let args = (failure.message, hint);
        match failure.area {
            FailureArea::Policy => PolicyError::new_err(args),
            FailureArea::Budget => BudgetError::new_err(args),
            FailureArea::Store => StoreError::new_err(args),
            FailureArea::Tokenizer => TokenizerError::new_err(args),
            _ => InputError::new_err(args),
        }
    }
}
