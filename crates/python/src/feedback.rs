//! `midfold.feedback` and `midfold.cache_check`.

use midfold::{Budget, CompactionFeedback, ContextSize, Settings, cache_check as check};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::Failure;
use crate::messages::{self, GivenMessages};
use crate::prepare::{self, HOST};
use crate::python::objects;

/// Returns words for a person after a compaction that they asked for: a dict of `noop`, `headline`,
/// `token_line` and `note`, as Hermes Agent's `summarize_manual_compression` returns it.
///
/// The messages are lists or tuples. Raises `InputError` for anything else.
///
/// >>> import midfold
/// >>> before = [{"role": "user", "content": "hi"}] * 3
/// >>> midfold.feedback(before, before[:1], 1_200, 400)["headline"]
/// 'Compressed: 3 → 1 messages'
#[pyfunction]
pub fn feedback<'py>(
    py: Python<'py>,
    before_messages: &Bound<'py, PyAny>,
    after_messages: &Bound<'py, PyAny>,
    before_tokens: u64,
    after_tokens: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let before = list("before_messages", before_messages)?;
    let after = list("after_messages", after_messages)?;
    let size = |messages: &Bound<'py, PyList>, tokens| ContextSize {
        messages: messages.len() as u64,
        tokens,
    };
    let same = after.eq(&before)?;
    let report =
        CompactionFeedback::new(size(&before, before_tokens), size(&after, after_tokens), same);
    let dict = PyDict::new(py);
    dict.set_item("noop", report.noop)?;
    dict.set_item("headline", report.headline)?;
    dict.set_item("token_line", report.token_line)?;
    dict.set_item("note", report.note)?;
    Ok(dict)
}

/// The messages as a list. A body or a text has a length, too, but that is no number of messages.
fn list<'py>(name: &str, messages: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    if let Ok(list) = messages.cast::<PyList>() {
        return Ok(list.clone());
    }
    if let Ok(tuple) = messages.cast::<PyTuple>() {
        return Ok(tuple.to_list());
    }
    let kind = messages.get_type().name()?;
    Err(Failure::input(format!("{name} is of type `{kind}`, not a list"))
        .hint("pass the list of messages; of a request's body, the list in it: body[\"messages\"]")
        .into())
}

/// Compares three ways to fold: how many tokens at the start of a prompt does the next turn repeat,
/// so that the provider can read them from its cache?
///
/// - `marker`, of `marker_prompt` tokens: a fixed line replaces the messages that leave.
/// - `regenerated`, of `regenerated_prompt`: a recap replaces them, and each turn writes a new one.
/// - `frozen`, of `prompt`: a recap replaces them, and stays as it is.
///
/// Returns `None` if there is no turn before the last, or nothing to fold. The arguments are those
/// of `compact`, and so are the errors.
///
/// >>> import midfold
/// >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
/// >>> found = midfold.cache_check(messages, window=4_000)
/// >>> found["frozen"] == found["prompt"] > found["regenerated"]
/// True
#[pyfunction]
#[pyo3(signature = (
    messages, *, window=None, preset=None, policy=None, tokenizer=None, dialect=None, profile=None,
    model=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn cache_check<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    window: Option<&Bound<'py, PyAny>>,
    preset: Option<&str>,
    policy: Option<&Bound<'py, PyAny>>,
    tokenizer: Option<String>,
    dialect: Option<&str>,
    profile: Option<String>,
    model: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let policy = prepare::policy(preset, policy, None, false)?;
    let format = messages::format(dialect)?;
    let window = prepare::tokens("window", window)?;
    let settings = Settings { window, tokenizer, profile, model, ..Settings::default() };
    let bytes = GivenMessages::new(messages)?.bytes();
    let verdict = py.detach(|| {
        let prepared =
            settings.setup(&HOST)?.prepare(messages::conversation(&bytes, format)?.conversation)?;
        let budget = Budget::new(prepared.window);
        Ok::<_, Failure>(check(&prepared.log, &policy, &budget, prepared.meter)?)
    })?;
    objects(py, &verdict)
}
