//! The summary that a session asks a model for, and the model's answer.

use midfold::core::event::Usage;
use midfold::core::narrate::{
    FailureClass, FinishReason, SummaryFailure, SummaryReply, SummaryRequest as Request,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::Failure;

/// A summary that a session, a job or a row would like a model to write.
///
/// Send `messages` to a model with these settings, and give its text to whatever made the request.
#[pyclass(frozen, module = "midfold")]
pub struct SummaryRequest {
    pub(crate) request: Request,
}

#[pymethods]
impl SummaryRequest {
    /// The name of the work, the same for the same work.
    #[getter]
    fn id(&self) -> String {
        self.request.id.to_hex()
    }

    /// The two messages to send to the model: the rules, and the originals to summarise.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let request = &self.request;
        let prompt = py.detach(|| request.prompt(&request.sources, request.previous.as_deref()));
        let message = |role: &str, content: String| {
            let message = PyDict::new(py);
            message.set_item("role", role)?;
            message.set_item("content", content)?;
            Ok::<_, PyErr>(message)
        };
        PyList::new(py, [message("system", prompt.system)?, message("user", prompt.user)?])
    }

    /// The most tokens of the reply.
    #[getter]
    fn max_tokens(&self) -> u32 {
        self.request.max_tokens
    }

    /// The sampling temperature.
    #[getter]
    fn temperature(&self) -> f64 {
        self.request.temperature.to_f64()
    }

    /// The longest wait for the whole answer, in seconds.
    #[getter]
    fn timeout(&self) -> u32 {
        self.request.timeout_seconds
    }

    fn __repr__(&self) -> String {
        let span = &self.request.span;
        format!("SummaryRequest(events {} to {})", span.start, span.end)
    }
}

/// The answer as the engine takes it: a text, or why there is none.
pub fn answer(
    text: Option<String>,
    error: Option<&str>,
    finish: &str,
    model: String,
    usage: Usage,
) -> Result<Result<SummaryReply, SummaryFailure>, Failure> {
    let Some(error) = error else {
        let finish = match finish {
            "stop" | "end_turn" | "stop_sequence" => FinishReason::Stop,
            "length" | "max_tokens" => FinishReason::Length,
            _ => FinishReason::Other,
        };
        let text = text.unwrap_or_default();
        let usage = (usage != Usage::default()).then_some(usage);
        return Ok(Ok(SummaryReply { text, finish, model, usage, calls: 1 }));
    };
    let (code, detail) = error.split_once(": ").unwrap_or((error, ""));
    let class = FailureClass::from_code(code).ok_or_else(|| {
        Failure::input(format!("there is no kind of failure `{code}`")).hint(
            "there are: timeout, auth, rate-limited, server, network, overflow, garbage, rejected; \
             what happened may follow: error=\"server: 503\"",
        )
    })?;
    Ok(Err(SummaryFailure::new(class, detail)))
}
