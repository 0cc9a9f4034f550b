//! `midfold.feedback` and `midfold.cache_check`.

use midfold::{Budget, CompactionFeedback, ContextSize, Settings, cache_check as check};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;
use crate::messages::{self, GivenMessages};
use crate::prepare::{self, HOST};
use crate::python::objects;

/// Returns words for a person after a compaction that they asked for: a dict of `noop`, `headline`,
/// `token_line` and `note`, as Hermes Agent's `summarize_manual_compression` returns it.
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
    let list =
        |messages: &Bound<'py, PyAny>| py.import("builtins")?.getattr("list")?.call1((messages,));
    let (before, after) = (list(before_messages)?, list(after_messages)?);
    let size = |messages: &Bound<'py, PyAny>, tokens| {
        Ok::<_, PyErr>(ContextSize { messages: messages.len()? as u64, tokens })
    };
    let same = after.eq(&before)?;
    let said =
        CompactionFeedback::new(size(&before, before_tokens)?, size(&after, after_tokens)?, same);
    let dict = PyDict::new(py);
    dict.set_item("noop", said.noop)?;
    dict.set_item("headline", said.headline)?;
    dict.set_item("token_line", said.token_line)?;
    dict.set_item("note", said.note)?;
    Ok(dict)
}

/// Counts tokens at the start of the last turn's prompt that the next one repeats: the provider can
/// read them from its cache. There is a static `marker` (of `marker_prompt` tokens), a recap that
/// is `regenerated` each turn (of `regenerated_prompt`), and a fold that stays (`frozen`, of
/// `prompt`).
///
/// `None` if there is no turn before the last, or nothing to fold. The arguments are those of
/// `compact`, and so is what is raised.
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
    window: Option<i64>,
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
    let found = py.detach(|| {
        let prepared =
            settings.setup(&HOST)?.prepare(messages::conversation(&bytes, format)?.conversation)?;
        let budget = Budget::new(prepared.window);
        Ok::<_, Failure>(check(&prepared.log, &policy, &budget, prepared.meter)?)
    })?;
    objects(py, &found)
}
