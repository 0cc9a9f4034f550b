//! A context: what is to be sent.

use midfold::core::project::Context as Pieces;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// What is to be sent: messages, and what they count.
#[pyclass(frozen, module = "midfold")]
pub struct Context {
    pub(crate) pieces: Pieces,
    /// The messages. Those that were kept as they were are the objects that were appended.
    #[pyo3(get)]
    pub(crate) messages: Py<PyList>,
    /// Whether it was folded for this.
    #[pyo3(get)]
    pub(crate) folded: bool,
    /// The number of the request in the ledger of a stored session.
    #[pyo3(get)]
    pub(crate) call: Option<u64>,
}

#[pymethods]
impl Context {
    /// Counted tokens, with what travels beside the messages.
    #[getter]
    fn tokens(&self) -> u64 {
        self.pieces.tokens()
    }

    /// The messages as one JSON list, ready to be sent: the very bytes of the log.
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.pieces.bytes()))
    }

    fn __len__(&self) -> usize {
        self.pieces.len()
    }

    fn __repr__(&self) -> String {
        format!("Context(messages={}, tokens={})", self.pieces.len(), self.pieces.tokens())
    }
}
