//! `midfold.Session`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use midfold::Outcome;
use midfold::core::Hash;
use midfold::core::event::Usage;
use midfold::core::project::Fate;
use midfold::formats::{DialectKind, overflow};
use midfold::store::SearchMode;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::context::Context;
use crate::engine::{Engine, Place, Sent};
use crate::errors::{Failure, Kind};
use crate::given::{self, Given};
use crate::json;
use crate::prepare::{self, Measure};
use crate::python::{loads, make, objects};
use crate::recall;
use crate::start::Start;
use crate::summary::{SummaryRequest, answer};

/// One conversation: its log, its folds, its meter; in memory, or in a store.
///
/// Every method may be called from any thread. None waits for a model.
///
/// >>> import midfold
/// >>> session = midfold.Session(window=4_000)
/// >>> question = {"role": "user", "content": "Why is the total off by one?"}
/// >>> session.append(question)
/// [0]
/// >>> context = session.context()
/// >>> context.messages[0] is question, context.folded
/// (True, False)
/// >>> context.json()
/// b'[{"role":"user","content":"Why is the total off by one?"}]'
#[pyclass(frozen, module = "midfold")]
pub struct Session {
    engine: Mutex<Engine>,
    /// The objects of events, as they were appended or first read.
    known: Mutex<HashMap<u64, Py<PyAny>>>,
    /// The messages that are no events (recaps, edited ones) of the context before, in order: until
    /// the next fold they are the same objects.
    made: Mutex<Vec<(Bytes, Py<PyAny>)>>,
}

impl Session {
    fn of(engine: Engine) -> Self {
        Self { engine: Mutex::new(engine), known: Mutex::default(), made: Mutex::default() }
    }

    /// Runs something on the engine, detached: nobody holds it while waiting for Python.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Engine) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let locked = || self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let done = py.detach(|| work(&mut locked()));
        py.check_signals()?;
        Ok(done?)
    }

    fn known(&self, py: Python<'_>) -> MutexGuard<'_, HashMap<u64, Py<PyAny>>> {
        lock(&self.known, py)
    }

    /// The object of an event: the one that was appended, else one that stays the same from now on.
    fn object(&self, py: Python<'_>, seq: u64, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        let known = self.known(py).get(&seq).map(|message| message.clone_ref(py));
        if let Some(message) = known {
            return Ok(message);
        }
        let read = loads(py, bytes)?.unbind();
        Ok(self.known(py).entry(seq).or_insert(read).clone_ref(py))
    }

    fn handed_out(&self, py: Python<'_>, sent: Sent) -> PyResult<Context> {
        let Sent { context, folded, call } = sent;
        let messages = PyList::empty(py);
        let before = std::mem::take(&mut *lock(&self.made, py));
        let mut made = Vec::with_capacity(before.len());
        for piece in context.pieces() {
            if let Fate::Verbatim(seq) = piece.fate {
                messages.append(self.object(py, seq.into(), &piece.bytes)?)?;
                continue;
            }
            let bytes = &piece.bytes;
            let same = |(known, _): &&(Bytes, _)| {
                (known.as_ptr(), known.len()) == (bytes.as_ptr(), bytes.len())
            };
            let message = match before.get(made.len()).filter(same) {
                Some((_, message)) => message.clone_ref(py),
                None => loads(py, bytes)?.unbind(),
            };
            messages.append(&message)?;
            made.push((bytes.clone(), message));
        }
        *lock(&self.made, py) = made;
        Ok(Context { pieces: context, messages: messages.unbind(), folded, call })
    }

    fn folding<'py>(
        &self,
        py: Python<'py>,
        focus: Option<&str>,
        preview: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fields = PyDict::new(py);
        let (record, noop) = self.run(py, |engine| match engine.compact(focus, preview)? {
            Outcome::Folded(fold) => Ok((Some(serde_json::to_vec(&fold)?), None)),
            Outcome::Nothing(reason) => Ok((None, Some(reason.to_string()))),
        })?;
        fields.set_item("record", record.map(|record| PyBytes::new(py, &record)))?;
        fields.set_item("noop", noop)?;
        make(py, "Folding", &fields)
    }

    fn with_known(self, py: Python<'_>, known: HashMap<u64, Py<PyAny>>) -> Self {
        *self.known(py) = known;
        self
    }
}

#[pymethods]
impl Session {
    /// Makes a session. Without `store` it lives in memory.
    #[new]
    #[pyo3(signature = (
        *, window=None, preset=None, policy=None, dialect="openai-chat", profile=None,
        tokenizer=None, model=None, system=None, tools=None, output_reserve=0, narrate=false,
        store=None, id=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python class")]
    fn new(
        py: Python<'_>,
        window: Option<u64>,
        preset: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
        dialect: &str,
        profile: Option<String>,
        tokenizer: Option<String>,
        model: Option<String>,
        system: Option<&Bound<'_, PyAny>>,
        tools: Option<&Bound<'_, PyAny>>,
        output_reserve: u64,
        narrate: bool,
        store: Option<String>,
        id: Option<String>,
    ) -> PyResult<Self> {
        let known = DialectKind::ALL.map(DialectKind::name);
        let kind = DialectKind::from_name(dialect)
            .ok_or_else(|| Failure::unknown(Kind::Input, "dialect", dialect, &known))?;
        let mut policy = prepare::policy(preset, policy)?;
        policy.narration.on |= narrate;
        let start = Start {
            id: id.map_or_else(|| new_id(py), Ok)?,
            kind,
            policy,
            measure: Measure { window, tokenizer, profile, model },
            system: system.map(|system| json::bytes(system, "system")).transpose()?,
            tools: tools.map(|tools| json::bytes(tools, "tools")).transpose()?,
            output_reserve,
            store,
        };
        Ok(Self::of(py.detach(|| start.open())?))
    }

    /// Goes on with a session of a store: `sqlite:PATH` or `postgres://…`.
    #[staticmethod]
    fn open(py: Python<'_>, store: &str, id: &str) -> PyResult<Self> {
        Ok(Self::of(py.detach(|| Place::open(store)?.load(id))?))
    }

    /// Its id.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        self.run(py, |engine| Ok(engine.id().to_owned()))
    }

    /// Where it is stored, without a password; `None` in memory.
    #[getter]
    fn store(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.run(py, |engine| Ok(engine.place()))
    }

    /// Appends a message (a dict), messages (a list of them), or JSON. Returns their places.
    ///
    /// All are appended or none. In a store they are durable when this returns, and a retry with
    /// the same `key` returns the first answer.
    #[pyo3(signature = (messages, *, key=None))]
    fn append(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        key: Option<String>,
    ) -> PyResult<Vec<u64>> {
        let given = match messages.is_instance_of::<PyDict>() {
            true => Given::new(PyList::new(py, [messages])?.as_any())?,
            false => Given::new(messages)?,
        };
        let bytes = given.bytes();
        let (first, sources, wrapper) = self.run(py, |engine| {
            let kind = DialectKind::from_name(engine.dialect()).unwrap_or(DialectKind::OpenAiChat);
            let (events, wrapper) = given::events(&bytes, kind)?;
            let sources: Vec<Vec<Range<usize>>> =
                events.iter().map(|event| event.source.clone()).collect();
            Ok((engine.append(events, key)?, sources, wrapper))
        })?;
        let objects = given.objects(sources.iter().map(|source| &source[..]), wrapper.as_ref());
        let mut known = self.known(py);
        for (seq, object) in (first..).zip(objects) {
            if let Some(object) = object {
                known.insert(seq, object.unbind());
            }
        }
        Ok((first..first + sources.len() as u64).collect())
    }

    /// The context to send, folded first where that is due.
    fn context(&self, py: Python<'_>) -> PyResult<Context> {
        let sent = self.run(py, Engine::context)?;
        self.handed_out(py, sent)
    }

    /// What to send after the provider refused a request with this error: once. `None` where
    /// compacting is not what it needs. `reply` is the least room that a reply needs.
    #[pyo3(signature = (error, *, status=None, reply=0))]
    fn recover(
        &self,
        py: Python<'_>,
        error: &Bound<'_, PyAny>,
        status: Option<u16>,
        reply: u64,
    ) -> PyResult<Option<Context>> {
        let body = match (error.cast::<PyString>(), error.cast::<PyBytes>()) {
            (Ok(text), _) => text.to_string_lossy().into_owned().into_bytes(),
            (_, Ok(bytes)) => bytes.as_bytes().to_vec(),
            _ => json::bytes(error, "error")?,
        };
        let Some(told) = overflow::classify(status, &body).recovery(reply) else {
            return Ok(None);
        };
        let sent = self.run(py, |engine| engine.recover(told))?;
        self.handed_out(py, sent).map(Some)
    }

    /// Tells what the provider counted for the last context.
    #[pyo3(signature = (prompt, output=0, *, cache_read=0, cache_write=0, call=None))]
    fn observe(
        &self,
        py: Python<'_>,
        prompt: u64,
        output: u64,
        cache_read: u64,
        cache_write: u64,
        call: Option<u64>,
    ) -> PyResult<()> {
        let usage = Usage { prompt, output, cache_read, cache_write };
        self.run(py, |engine| engine.observe(usage, call))
    }

    /// Folds now, because you ask.
    #[pyo3(signature = (focus=None))]
    fn compact<'py>(&self, py: Python<'py>, focus: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        self.folding(py, focus, false)
    }

    /// Says what `compact` would do, without doing it.
    #[pyo3(signature = (focus=None))]
    fn preview<'py>(&self, py: Python<'py>, focus: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        self.folding(py, focus, true)
    }

    /// Takes back a fold and those after it; without an id the active one. Its record stays.
    #[pyo3(signature = (fold=None))]
    fn undo(&self, py: Python<'_>, fold: Option<&str>) -> PyResult<()> {
        let fold = fold.map(hash).transpose()?;
        self.run(py, |engine| engine.undo(fold))
    }

    /// Keeps an event, with its unit, out of every later fold.
    fn pin(&self, py: Python<'_>, seq: u64) -> PyResult<()> {
        self.run(py, |engine| engine.pin(seq, true))
    }

    /// Lets a pinned event go.
    fn unpin(&self, py: Python<'_>, seq: u64) -> PyResult<()> {
        self.run(py, |engine| engine.pin(seq, false))
    }

    /// What the session is at.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let status = self.run(py, Engine::status)?;
        objects(py, &status)
    }

    /// All folds that were made, oldest first.
    fn folds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let folds = self.run(py, Engine::folds)?;
        loads(py, &folds)
    }

    /// What a model should be asked now, if anything. Run it whenever you like, and tell
    /// `complete`. In memory only: a store has a queue, and workers.
    fn wants(&self, py: Python<'_>) -> PyResult<Option<SummaryRequest>> {
        let request = self.run(py, Engine::wants)?;
        Ok(request.map(|request| SummaryRequest { request }))
    }

    /// Takes the model's answer to a request: a text, or why there is none (`error="timeout"`).
    /// Returns the verdict: `accepted`, or why it will not be used.
    #[pyo3(signature = (
        request, text=None, *, error=None, finish="stop", model=String::new(), prompt=0, output=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python method")]
    fn complete(
        &self,
        py: Python<'_>,
        request: &Bound<'_, SummaryRequest>,
        text: Option<String>,
        error: Option<&str>,
        finish: &str,
        model: String,
        prompt: u64,
        output: u64,
    ) -> PyResult<String> {
        let usage = Usage { prompt, output, ..Usage::default() };
        let answer = answer(text, error, finish, model, usage)?;
        let request = &request.get().request;
        let verdict = self.run(py, |engine| engine.complete(request, answer))?;
        Ok(verdict.code)
    }

    /// Finds events of the log by what they say, those that were folded included.
    #[pyo3(signature = (query, *, mode="text", limit=10))]
    fn recall_grep<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        mode: &str,
        limit: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mode = match mode {
            "text" => SearchMode::Text,
            "literal" => SearchMode::Literal,
            "regex" => SearchMode::Regex,
            _ => {
                let known = ["text", "literal", "regex"];
                return Err(Failure::unknown(Kind::Input, "mode", mode, &known).into());
            }
        };
        let found = self.run(py, |engine| recall::grep(engine, query, mode, limit))?;
        objects(py, &found)
    }

    /// Brings back originals: an event (`"12"`), a range (`"12-20"`), `"active"` or a fold's id.
    #[pyo3(signature = (what, *, cursor=None, max_chars=8_000))]
    fn recall_expand<'py>(
        &self,
        py: Python<'py>,
        what: &Bound<'py, PyAny>,
        cursor: Option<&str>,
        max_chars: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let what = what.str()?.to_cow()?.into_owned();
        let page = self.run(py, |engine| recall::expand(engine, &what, cursor, max_chars))?;
        objects(py, &page)
    }

    /// Says what a fold covers: `"active"`, or its id.
    #[pyo3(signature = (fold="active"))]
    fn recall_describe<'py>(&self, py: Python<'py>, fold: &str) -> PyResult<Bound<'py, PyAny>> {
        let described = self.run(py, |engine| recall::describe(engine, fold))?;
        objects(py, &described)
    }

    /// Answers a call of one of the tools of `midfold.recall_tools`: JSON, always.
    fn recall(&self, py: Python<'_>, name: &str, arguments: &str) -> PyResult<String> {
        self.run(py, |engine| recall::dispatch(engine, name, arguments))
    }

    /// A session of its own over the first `at` events (all without), with the folds that apply.
    #[pyo3(signature = (id=None, *, at=None))]
    fn fork(&self, py: Python<'_>, id: Option<String>, at: Option<u64>) -> PyResult<Self> {
        let id = id.map_or_else(|| new_id(py), Ok)?;
        let engine = self.run(py, |engine| engine.fork(&id, at))?;
        let end = engine.len() as u64;
        let known = self.known(py);
        let shared = known.iter().filter(|(seq, _)| **seq < end);
        let shared = shared.map(|(seq, message)| (*seq, message.clone_ref(py))).collect();
        drop(known);
        Ok(Self::of(engine).with_known(py, shared))
    }

    /// An independent session: in memory an exact copy, in a store a fork with an id of its own.
    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        let id = new_id(py)?;
        let engine = self.run(py, |engine| engine.copy(&id))?;
        let messages = PyDict::new(py);
        for (seq, message) in self.known(py).iter() {
            messages.set_item(seq, message)?;
        }
        let copied = py.import("copy")?.call_method1("deepcopy", (messages, memo))?;
        Ok(Self::of(engine).with_known(py, copied.extract()?))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.run(py, |engine| Ok(engine.len()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.run(py, |engine| Ok(format!("Session({:?}, events={})", engine.id(), engine.len())))
    }
}

/// Never held while Python code runs.
fn lock<'a, T>(mutex: &'a Mutex<T>, py: Python<'_>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// An id that nobody else has.
fn new_id(py: Python<'_>) -> PyResult<String> {
    py.import("uuid")?.call_method0("uuid4")?.getattr("hex")?.extract()
}

fn hash(hex: &str) -> Result<Hash, Failure> {
    serde_json::from_value(hex.into()).map_err(|_| {
        Failure::input(format!("`{hex}` is no id of a fold"))
            .hint("`folds()` lists what was folded, with ids")
    })
}
