//! Ids of sessions and folds.

use midfold::core::Hash;
use pyo3::prelude::*;

use crate::errors::Failure;

/// An id that nobody else has.
pub(super) fn new_id(py: Python<'_>) -> PyResult<String> {
    py.import("uuid")?.call_method0("uuid4")?.getattr("hex")?.extract()
}

pub(super) fn hash(hex: &str) -> Result<Hash, Failure> {
    serde_json::from_value(hex.into()).map_err(|_| {
        Failure::input(format!("`{hex}` is no id of a fold"))
            .hint("`folds()` lists what was folded, with ids")
    })
}
