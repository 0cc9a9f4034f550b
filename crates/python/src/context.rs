//! A context: the messages to send to the model.

use midfold::core::inject::InjectedContext;
use midfold::core::project::Context as Pieces;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::python::{loads, objects};

/// A context: the messages to send, and what they count.
///
/// >>> import midfold
/// >>> context = midfold.Session().project([{"role": "user", "content": "hi"}])
/// >>> len(context), context.places, context.tokens < 20
/// (1, [0], True)
#[pyclass(frozen, module = "midfold")]
pub struct Context {
    pub(crate) pieces: Pieces,
    /// What hooks added behind them.
    pub(crate) injected: Option<InjectedContext>,
    /// The messages. Those that were kept as they were are the objects that were appended.
    #[pyo3(get)]
    pub(crate) messages: Py<PyList>,
    /// Whether it was folded for this.
    #[pyo3(get)]
    pub(crate) folded: bool,
    /// The number of the request in the ledger of a stored session, from 1; `None` in memory.
    #[pyo3(get)]
    pub(crate) call: Option<u64>,
    /// Of what `project` made: for each message the index, in the list that was given, of the one
    /// that it is or was made of; `None` for what midfold wrote. `None` for other contexts.
    #[pyo3(get)]
    pub(crate) places: Option<Vec<Option<usize>>>,
    /// The tools for it, as JSON.
    pub(crate) tools: String,
    /// The session that it is a context of.
    #[pyo3(get)]
    pub(crate) session: Py<PyAny>,
}

#[pymethods]
impl Context {
    /// The counted tokens, with what travels beside the messages.
    #[getter]
    fn tokens(&self) -> u64 {
        self.injected.as_ref().map_or_else(|| self.pieces.tokens(), InjectedContext::tokens)
    }

    /// The tools by which the model looks up what was folded, for the `tools` of the request: empty
    /// before the first fold. `Session.recall` answers their calls.
    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.tools.as_bytes())
    }

    /// The texts that hooks added: each hook's name, and the tokens that it took of its reserve.
    #[getter]
    fn injections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.injected.as_ref().map_or(&[][..], InjectedContext::injections))
    }

    /// The messages as one JSON list, ready to be sent: the very bytes of the log.
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes =
            || self.injected.as_ref().map_or_else(|| self.pieces.bytes(), InjectedContext::bytes);
        PyBytes::new(py, &py.detach(bytes))
    }

    fn __len__(&self) -> usize {
        self.pieces.len() + self.injected.as_ref().map_or(0, |injected| injected.added().len())
    }

    fn __repr__(&self) -> String {
        format!("Context(messages={}, tokens={})", self.__len__(), self.tokens())
    }
}
