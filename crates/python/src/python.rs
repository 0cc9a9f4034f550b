//! Uses objects that are written in Python: the classes of `midfold._types`, and `json.loads`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::Failure;

/// JSON as Python objects.
pub fn loads<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    LOADS.import(py, "json", "loads")?.call1((PyBytes::new(py, json),))
}

/// A record as Python objects.
pub fn objects<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    loads(py, &serde_json::to_vec(value).map_err(Failure::from)?)
}

/// An instance of a class of `midfold._types`.
pub fn make<'py>(
    py: Python<'py>,
    class: &str,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("midfold._types")?.getattr(class)?.call((), Some(fields))
}
