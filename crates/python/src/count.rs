//! `midfold.count_tokens`, and the names of presets and tokenizers.

use midfold::core::TextKind;
use midfold::{Policy, Settings, tokens};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::Failure;
use crate::messages::{self, GivenMessages};
use crate::prepare::HOST;

/// Counts the tokens of a text, or of messages and what travels beside them.
///
/// A `str` is counted as text, not read as JSON: pass messages as a list, a dict or bytes. Without
/// a `tokenizer` the one of the `model` counts.
///
/// Raises `InputError` for what is no conversation, `TokenizerError` for an unknown tokenizer.
///
/// >>> import midfold
/// >>> midfold.count_tokens("Keep the ends, fold the middle.", tokenizer="o200k")
/// 8
/// >>> midfold.count_tokens([{"role": "user", "content": "x" * 40}], tokenizer="chars:4") > 10
/// True
#[pyfunction]
#[pyo3(signature = (messages, *, tokenizer=None, model=None, dialect=None))]
pub fn count_tokens(
    py: Python<'_>,
    messages: &Bound<'_, PyAny>,
    tokenizer: Option<String>,
    model: Option<String>,
    dialect: Option<&str>,
) -> PyResult<u64> {
    let settings = Settings { tokenizer, model, ..Settings::default() };
    if let Ok(text) = messages.cast::<PyString>() {
        let text = text.to_string_lossy().into_owned();
        let count = || {
            let counter = settings.setup(&HOST)?.counter_for(settings.model.as_deref());
            Ok::<_, Failure>(u64::from(counter.count(&text, TextKind::Prose)))
        };
        return Ok(py.detach(count)?);
    }
    let format = messages::format(dialect)?;
    let bytes = GivenMessages::new(messages)?.bytes();
    let count = || {
        let input = messages::conversation(&bytes, format)?;
        Ok::<_, Failure>(settings.setup(&HOST)?.prepare(input.conversation)?.log.tokens())
    };
    Ok(py.detach(count)?)
}

/// The names of the presets, `default` first.
///
/// >>> import midfold
/// >>> midfold.presets()[:2]
/// ['default', 'generous']
#[pyfunction]
pub fn presets() -> Vec<&'static str> {
    Policy::preset_names()
}

/// The names of the tokenizers of this build.
///
/// >>> import midfold
/// >>> "o200k" in midfold.tokenizers()
/// True
#[pyfunction]
pub fn tokenizers() -> Vec<&'static str> {
    tokens::names()
}
