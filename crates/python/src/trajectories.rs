//! `midfold.trajectories`: makes rows of training sets fit a number of tokens.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use midfold::core::budget::Ratio;
use midfold::core::narrate::{FinishReason, SummaryReply, SummaryRequest as Request};
use midfold::core::trajectory::TrajectoryLimits;
use midfold::formats::trajectory::{
    AskOptions, CompressedRow as Done, PlannedRow, RowError, TrajectorySettings, compress, plan_row,
};
use midfold::{Counter, ROW_TOKENIZER, RowSettings, tokenizer as counter};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::errors::Failure;
use crate::json;
use crate::prepare::HOST;
use crate::python::{loads, objects};
use crate::summary::SummaryRequest;

/// Rows between two looks at the keyboard.
const BATCH: usize = 64;

/// Temperature that a request names (Hermes' compressor: 0.3).
const TEMPERATURE: Ratio = Ratio(3_000);
/// Seconds to the first byte that it names.
const TIMEOUT: u32 = 60;

/// Makes rows fit: settings, checked once, and a counter. Can be pickled, so that a data set's
/// workers can have it.
///
/// `midfold.types.RowOptions` says what each setting means. Raises `InputError` for an unknown
/// name, and `TokenizerError`.
///
/// >>> from midfold.trajectories import Compressor
/// >>> compressor = Compressor(target_tokens=2_000, tokenizer="chars:4")
/// >>> compressor('{"conversations": [{"from": "human", "value": "hi"}]}').status
/// 'unchanged'
/// >>> compressor("[]").error
/// 'no JSON object'
#[pyclass(frozen, module = "midfold.trajectories")]
pub struct Compressor {
    settings: TrajectorySettings,
    counter: Arc<dyn Counter>,
    /// As it was made.
    given: Py<PyDict>,
}

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (
        *, target_tokens=None, summary_tokens=None, keep_last=None, tokenizer=None, placement=None,
        trainer=None, notice=None, row_metrics=false, count_all=false, align=Vec::new(),
        protect=None, skip_under_target=true
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python class")]
    fn new(
        py: Python<'_>,
        target_tokens: Option<u64>,
        summary_tokens: Option<u64>,
        keep_last: Option<usize>,
        tokenizer: Option<String>,
        placement: Option<String>,
        trainer: Option<String>,
        notice: Option<String>,
        row_metrics: bool,
        count_all: bool,
        align: Vec<String>,
        protect: Option<Vec<String>>,
        skip_under_target: bool,
    ) -> PyResult<Self> {
        let given = PyDict::new(py);
        given.set_item("target_tokens", target_tokens)?;
        given.set_item("summary_tokens", summary_tokens)?;
        given.set_item("keep_last", keep_last)?;
        given.set_item("tokenizer", &tokenizer)?;
        given.set_item("placement", &placement)?;
        given.set_item("trainer", &trainer)?;
        given.set_item("notice", &notice)?;
        given.set_item("row_metrics", row_metrics)?;
        given.set_item("count_all", count_all)?;
        given.set_item("align", &align)?;
        given.set_item("protect", &protect)?;
        given.set_item("skip_under_target", skip_under_target)?;
        let settings = RowSettings {
            target: target_tokens,
            summary: summary_tokens,
            keep_last,
            placement,
            trainer,
            protect,
            notice,
            row_metrics,
            count_all,
            align,
            fold_all: !skip_under_target,
            ..RowSettings::default()
        };
        let settings = settings.settings().map_err(Failure::from)?;
        let name = tokenizer.unwrap_or_else(|| ROW_TOKENIZER.to_owned());
        let counter = py.detach(|| counter(&name, &HOST)).map_err(Failure::from)?;
        Ok(Self { settings, counter, given: given.unbind() })
    }

    /// One row: a dict, or a line of JSON. Never raises for a row that cannot be used: its status
    /// is `error`.
    fn __call__(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<Compressed> {
        let given = GivenRow::new(row)?;
        let outcome = py.detach(|| self.one(&given.bytes));
        Ok(Compressed::new(given, outcome, self.settings.limits.target))
    }

    /// Many rows, in their order, on `workers` threads. Ctrl-C ends it between two batches.
    #[pyo3(signature = (rows, *, workers=1))]
    fn rows(
        &self,
        py: Python<'_>,
        rows: Vec<Bound<'_, PyAny>>,
        workers: usize,
    ) -> PyResult<Vec<Compressed>> {
        let target = self.settings.limits.target;
        let mut all = Vec::with_capacity(rows.len());
        for batch in rows.chunks(BATCH.saturating_mul(workers.max(1))) {
            py.check_signals()?;
            let given = batch.iter().map(GivenRow::new).collect::<PyResult<Vec<_>>>()?;
            let bytes: Vec<&[u8]> = given.iter().map(|row| &row.bytes[..]).collect();
            let outcomes = py.detach(|| self.many(&bytes, workers));
            let pairs = given.into_iter().zip(outcomes);
            all.extend(pairs.map(|(row, outcome)| Compressed::new(row, outcome, target)));
        }
        Ok(all)
    }

    /// One row, with a summary that `narrate` writes if the row has to be cut: it is called with
    /// a `SummaryRequest` and returns the text.
    ///
    /// Each line of it is judged, and what may not be there is left out. If nothing is left,
    /// `metrics["summary_refused"]` says why. If `narrate` returns `None` the summary is
    /// computed. `model` is the name of what narrates. What `narrate` raises comes out here.
    #[pyo3(signature = (row, narrate, *, model=String::new()))]
    fn narrated(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        narrate: &Bound<'_, PyAny>,
        model: String,
    ) -> PyResult<Compressed> {
        let given = GivenRow::new(row)?;
        let ask = AskOptions { model, temperature: TEMPERATURE, timeout_seconds: TIMEOUT };
        let wanted = py.detach(|| self.wanted(&given.bytes, &ask));
        let text: Option<String> = match wanted {
            Some(request) => narrate.call1((SummaryRequest { request },))?.extract()?,
            None => None,
        };
        let outcome = py.detach(|| self.with_text(&given.bytes, &ask, text));
        Ok(Compressed::new(given, outcome, self.settings.limits.target))
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.given.bind(py).copy()?))
    }

    fn __repr__(&self) -> String {
        self.shown()
    }
}

impl Compressor {
    /// What it does with rows, and how it counts.
    pub fn parts(&self) -> (TrajectorySettings, Arc<dyn Counter>) {
        (self.settings.clone(), Arc::clone(&self.counter))
    }

    pub fn shown(&self) -> String {
        let TrajectoryLimits { target, summary, .. } = self.settings.limits;
        let counter = self.counter.name();
        format!(
            "Compressor(target_tokens={target}, summary_tokens={summary}, tokenizer={counter:?})"
        )
    }

    fn one(&self, line: &[u8]) -> Result<Done, RowError> {
        compress(line, &self.settings, &*self.counter)
    }

    /// What a model would be asked about a row, if it is to be asked.
    fn wanted(&self, line: &[u8], ask: &AskOptions) -> Option<Request> {
        match plan_row(line, &self.settings, &*self.counter) {
            Ok(PlannedRow::Fold(folding)) if folding.wants_model() => Some(folding.request(ask)),
            _ => None,
        }
    }

    /// A row with what a model wrote of it.
    fn with_text(
        &self,
        line: &[u8],
        ask: &AskOptions,
        text: Option<String>,
    ) -> Result<Done, RowError> {
        let (Some(text), PlannedRow::Fold(folding)) =
            (text, plan_row(line, &self.settings, &*self.counter)?)
        else {
            return self.one(line);
        };
        let (finish, model) = (FinishReason::Stop, ask.model.clone());
        let reply = SummaryReply { text, finish, model, usage: None, calls: 1 };
        folding.finish_reply(ask, &reply, &self.settings, &*self.counter)
    }

    /// In order. The next free thread takes the next row: rows differ a thousandfold in size.
    fn many(&self, lines: &[&[u8]], workers: usize) -> Vec<Result<Done, RowError>> {
        if workers <= 1 {
            return lines.iter().map(|line| self.one(line)).collect();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut mine = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(line) = lines.get(at) else { return mine };
                mine.push((at, self.one(line)));
            }
        };
        let mut all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            // A panic of a thread is passed on. Otherwise its rows would be missing from the result without an error.
            joined.flat_map(|rows| rows.unwrap_or_else(|broken| resume_unwind(broken))).collect()
        });
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

/// A row as it was given, and its JSON.
struct GivenRow {
    object: Py<PyAny>,
    kind: RowKind,
    bytes: Bytes,
}

#[derive(Clone, Copy)]
enum RowKind {
    Dict,
    Str,
    Bytes,
}

impl GivenRow {
    fn new(row: &Bound<'_, PyAny>) -> PyResult<Self> {
        let object = row.clone().unbind();
        if let Ok(text) = row.cast::<PyString>() {
            let bytes = Bytes::copy_from_slice(text.to_cow()?.as_bytes());
            return Ok(Self { object, kind: RowKind::Str, bytes });
        }
        if let Ok(line) = row.cast::<PyBytes>() {
            let bytes = Bytes::copy_from_slice(line.as_bytes());
            return Ok(Self { object, kind: RowKind::Bytes, bytes });
        }
        let bytes = json::bytes(row, "row")?.into();
        Ok(Self { object, kind: RowKind::Dict, bytes })
    }
}

/// A row that was made to fit, or could not be, and its figures.
#[pyclass(frozen, module = "midfold.trajectories")]
pub struct Compressed {
    given: GivenRow,
    outcome: Result<Done, RowError>,
    target: u64,
}

impl Compressed {
    fn new(given: GivenRow, outcome: Result<Done, RowError>, target: u64) -> Self {
        Self { given, outcome, target }
    }
}

#[pymethods]
impl Compressed {
    /// The row as it is now, of the type that was given; the same object if nothing changed.
    #[getter]
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(Done { bytes: Some(bytes), .. }) = &self.outcome else {
            return Ok(self.given.object.bind(py).clone());
        };
        match self.given.kind {
            RowKind::Dict => loads(py, bytes),
            RowKind::Str => Ok(PyString::new(py, &String::from_utf8_lossy(bytes)).into_any()),
            RowKind::Bytes => Ok(PyBytes::new(py, bytes).into_any()),
        }
    }

    /// `unchanged`, `compressed`, `over_limit` (longer than the target all the same) or `error`.
    #[getter]
    fn status(&self) -> &'static str {
        match &self.outcome {
            Err(_) => "error",
            Ok(row) if row.metrics.still_over_limit => "over_limit",
            Ok(row) if row.bytes.is_some() => "compressed",
            Ok(_) => "unchanged",
        }
    }

    /// Why a row cannot be used; `None` if it can.
    #[getter]
    fn error(&self) -> Option<String> {
        self.outcome.as_ref().err().map(ToString::to_string)
    }

    /// A short name of `error`: `not-json`, `bad-turn`, `alternation`, …
    #[getter]
    fn code(&self) -> Option<&'static str> {
        self.outcome.as_ref().err().map(RowError::code)
    }

    /// Tokens before; a quarter of the bytes if nothing was counted; 0 for an error.
    #[getter]
    fn tokens_before(&self) -> u64 {
        self.outcome.as_ref().map_or(0, |row| row.metrics.original_tokens)
    }

    /// Tokens after; 0 for an error.
    #[getter]
    fn tokens_after(&self) -> u64 {
        self.outcome.as_ref().map_or(0, |row| row.metrics.compressed_tokens)
    }

    /// The measures, by the names of Hermes' metrics; `None` for an error.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.outcome.as_ref().ok().map(|row| objects(py, &row.metrics)).transpose()
    }

    /// The new place of each old turn, from 0; `None` if a summary is there instead.
    #[getter]
    fn turns(&self) -> Vec<Option<usize>> {
        let map = self.outcome.as_ref().map(|row| &row.map);
        map.map_or_else(
            |_| Vec::new(),
            |map| (0..map.turns_before()).map(|at| map.get(at)).collect(),
        )
    }

    fn __repr__(&self) -> String {
        let (before, after) = (self.tokens_before(), self.tokens_after());
        format!("Compressed({}, {before} -> {after} of {} tokens)", self.status(), self.target)
    }
}
