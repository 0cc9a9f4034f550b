//! `midfold.verify`.

use bytes::Bytes;
use midfold::formats::read::TranscriptFormat;
use midfold::formats::verify::check;
use midfold::{Fold, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;
use crate::json;
use crate::messages::{self, GivenMessages};
use crate::prepare::{self, HOST};
use crate::python::{make, objects};

/// Checks a compaction from the outside: what went in, what came out, and the record of the fold.
///
/// `after` may be a `Result`: its record is then taken, too. `fold` is such a record. `window` is
/// in tokens; it, `tokenizer` and `profile` are those of the record if nothing is said.
///
/// Raises `InputError` for what is no conversation or no record, `TokenizerError`.
///
/// >>> import midfold
/// >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
/// >>> bool(midfold.verify(messages, midfold.compact(messages, window=4_000)))
/// True
#[pyfunction]
#[pyo3(signature = (
    before, after, *, fold=None, window=None, tokenizer=None, profile=None, dialect=None, model=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn verify<'py>(
    py: Python<'py>,
    before: &Bound<'py, PyAny>,
    after: &Bound<'py, PyAny>,
    fold: Option<Bound<'py, PyAny>>,
    window: Option<&Bound<'py, PyAny>>,
    tokenizer: Option<String>,
    profile: Option<String>,
    dialect: Option<&str>,
    model: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_result = after.hasattr("record")? && after.hasattr("messages")?;
    let fold = match fold {
        None if is_result => Some(after.getattr("fold")?).filter(|fold| !fold.is_none()),
        fold => fold,
    };
    let after = if is_result { after.getattr("messages")? } else { after.clone() };
    let fold = fold.map(|fold| json::bytes(&fold, "fold")).transpose()?;
    let fold: Option<Fold> = fold.map(|json| record(&json)).transpose()?;
    let format = messages::format(dialect)?;
    // A fold is checked with the counter and the profile that it was made with, because its figures came from them.
    let of_fold = |of: fn(&Fold) -> &String| fold.as_ref().map(|fold| of(fold).clone());
    let settings = Settings {
        window: prepare::tokens("window", window)?,
        tokenizer: tokenizer.or_else(|| of_fold(|fold| &fold.counter)),
        profile: profile.or_else(|| of_fold(|fold| &fold.profile)),
        model,
        ..Settings::default()
    };
    let (before, after) =
        (GivenMessages::new(before)?.bytes(), GivenMessages::new(&after)?.bytes());
    let report = py.detach(|| {
        let prepared = settings
            .setup(&HOST)?
            .prepare(messages::conversation(&before, format)?.conversation)?;
        // The compacted list may not show its dialect any more, so that of the original is used.
        let after = messages::conversation(&after, Some(TranscriptFormat::from(prepared.kind)))?;
        let after: Vec<Bytes> =
            after.conversation.events.into_iter().map(|event| event.bytes).collect();
        let (fold, envelope) = (fold.as_ref(), &prepared.source.envelope);
        let budget = prepared.limit(fold);
        Ok::<_, Failure>(check(prepared.kind, &prepared.log, envelope, &after, fold, budget))
    })?;
    let violations = report.findings.iter().map(|finding| {
        serde_json::json!({ "rule": finding.rule, "message": finding.at, "detail": finding.detail })
    });
    let fields = PyDict::new(py);
    fields.set_item("violations", objects(py, &violations.collect::<Vec<_>>())?)?;
    let checked = PyDict::new(py);
    for (rule, count) in &report.checked {
        checked.set_item(rule, count)?;
    }
    fields.set_item("checked", checked)?;
    make(py, "Verification", &fields)
}

fn record(json: &[u8]) -> Result<Fold, Failure> {
    serde_json::from_slice(json).map_err(|error| {
        Failure::input(format!("fold is no record of a fold: {error}"))
            .hint("pass `Result.fold`, or what `midfold compact --record` wrote")
    })
}
