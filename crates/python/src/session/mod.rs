//! `midfold.Session`.

mod calls;
mod ids;
mod many;
mod objects;
mod shared;

use midfold::blocking::ForcedFold;
use midfold::core::event::Usage;
use midfold::store::recall::{ExpandTarget, GrepQuery, WantedOutcome};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::context::Context;
use crate::errors::Failure;
use crate::prepare;
use crate::python::{loads, objects};
use crate::recall;
use crate::start::SessionOptions;
use crate::summary::{SummaryRequest, answer};
use ids::{hash, new_id};
pub use many::Sessions;
use shared::SharedSession;

#[expect(clippy::doc_lazy_continuation, reason = "the examples are those of Python")]
#[doc = include_str!("session.md")]
#[pyclass(frozen, module = "midfold")]
pub struct Session {
    inner: SharedSession,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (
        *, window=None, preset=None, policy=None, dialect="openai-chat", profile=None,
        tokenizer=None, model=None, system=None, tools=None, output_reserve=0, narrate=false,
        tiers=None, after_fold=None, cache_lifetime=None, store=None, id=None, **others
    ), text_signature = "(*, window=None, preset=None, policy=None, dialect='openai-chat', \
        profile=None, tokenizer=None, model=None, system=None, tools=None, output_reserve=0, \
        narrate=False, tiers=None, after_fold=None, cache_lifetime=None, store=None, id=None)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python class")]
    fn new(
        py: Python<'_>,
        window: Option<&Bound<'_, PyAny>>,
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
        tiers: Option<&Bound<'_, PyAny>>,
        after_fold: Option<&Bound<'_, PyAny>>,
        cache_lifetime: Option<f64>,
        store: Option<String>,
        id: Option<String>,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        #[rustfmt::skip]
        let options = SessionOptions {
            window, preset, policy, dialect, profile, tokenizer, model, system, tools,
            output_reserve, narrate, tiers, after_fold, cache_lifetime, store, others,
        };
        Self::opened(py, options.start("Session", "id")?, id)
    }

    /// Goes on with a session of a store: `sqlite:PATH` or `postgres://…`. A window, a model, a
    /// preset or a policy that you name holds from now on. A smaller window that was learned from
    /// a refusal stays, until you name another one. `after_fold` is not stored with it.
    ///
    /// Raises `StoreError` if there is no such store or session, and `PolicyError` for a policy
    /// that cannot be used.
    #[staticmethod]
    #[pyo3(signature = (
        store, id, *, window=None, preset=None, policy=None, model=None, after_fold=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python method")]
    fn open(
        py: Python<'_>,
        store: &str,
        id: &str,
        window: Option<&Bound<'_, PyAny>>,
        preset: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
        model: Option<String>,
        after_fold: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let named = prepare::named(window, preset, policy, model)?;
        Self::loaded(py, store, id, &named, prepare::after_fold(after_fold)?)
    }

    /// Its id. It changes if a list of `project` went back: the session is a fork then.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        self.run(py, |engine| Ok(engine.id().to_owned()))
    }

    /// The place where it is stored, without a password; `None` in memory.
    #[getter]
    fn store(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.run(py, |engine| Ok(engine.place()))
    }

    /// Appends a message (a dict), messages (a list of them), or JSON. Returns their places.
    ///
    /// All are appended or none. In a store they are durable when this returns, and a retry with
    /// the same `key` returns the first answer. With `expect` they are appended only if the
    /// session has so many messages: otherwise somebody else appended.
    ///
    /// Raises `InputError` for what is no message, `StoreError` if there are not `expect`.
    #[pyo3(signature = (messages, *, key=None, expect=None))]
    fn append(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        key: Option<String>,
        expect: Option<u64>,
    ) -> PyResult<Vec<u64>> {
        self.append_given(py, messages, key, expect)
    }

    /// Returns the context to send, folded first if that is due.
    ///
    /// `inject` names texts that are added behind the history, beside the newest request: they are
    /// sent and not kept. Each needs an entry in `reserve`: tokens that a fold keeps free for it.
    ///
    /// Raises `BudgetError` if nothing fits the window, and `InputError` for a text that is
    /// longer than its reserve.
    #[pyo3(signature = (*, inject=None, reserve=None))]
    fn context(
        &self,
        py: Python<'_>,
        inject: Option<&Bound<'_, PyAny>>,
        reserve: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Context> {
        self.context_with(py, inject, reserve)
    }

    /// Takes all messages that a host keeps, as its list is now, and returns what to send, folded
    /// first if that is due, or with `force` or a `focus` (what to keep, in words).
    ///
    /// New messages are appended. The list may go on with the context that was handed out before.
    /// If it went back, the session is a fork from then on, with another `id`.
    ///
    /// Raises `InputError` for what is no list of messages of the session's dialect, and
    /// `BudgetError` if nothing fits the window.
    ///
    /// >>> import midfold
    /// >>> session = midfold.Session(window=4_000)
    /// >>> kept = [{"role": "user", "content": "Why is the total off by one?"}]
    /// >>> session.project(kept).messages[0] is kept[0]
    /// True
    /// >>> kept.append({"role": "assistant", "content": "The loop ends too early."})
    /// >>> session.project(kept).places
    /// [0, 1]
    #[pyo3(signature = (messages, *, focus=None, force=false))]
    fn project(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        focus: Option<&str>,
        force: bool,
    ) -> PyResult<Context> {
        self.project_list(py, messages, (force || focus.is_some()).then_some(ForcedFold { focus }))
    }

    /// Returns the smaller context to send after the provider refused a request with this error;
    /// `None` if compacting does not help.
    ///
    /// Call it once a refusal. `error` is what your SDK raised, or the body of the provider's
    /// answer; `status` is its HTTP status, without it that of the exception. An error without a
    /// message counts as too long if the context filled most of the window. `reply` is the least
    /// tokens to keep free for the reply, if that is more than the session reserves.
    ///
    /// Raises `BudgetError` if nothing smaller can be made, or if what this returned was too
    /// long, too: then show the provider's error.
    ///
    /// >>> import midfold
    /// >>> session = midfold.Session(window=100_000)
    /// >>> _ = session.project([{"role": "user", "content": "Go on. " * 90} for _ in range(90)])
    /// >>> said = "maximum context length is 8192 tokens, your messages resulted in 20000 tokens"
    /// >>> session.recover({"error": {"code": "context_length_exceeded", "message": said}}).folded
    /// True
    /// >>> session.recover("rate limited", status=429) is None
    /// True
    #[pyo3(signature = (error, *, status=None, reply=0))]
    fn recover(
        &self,
        py: Python<'_>,
        error: &Bound<'_, PyAny>,
        status: Option<u16>,
        reply: u64,
    ) -> PyResult<Option<Context>> {
        self.recover_from(py, error, status, reply)
    }

    /// Takes what the provider counted for the last context, in tokens: the meter learns from it.
    ///
    /// `prompt` is the whole prompt, with the parts that were read from the cache (`cache_read`) or
    /// written to it (`cache_write`); `output` is the reply. `call` is `Context.call`, for a
    /// request of a stored session that is not the last.
    ///
    /// Raises `InputError` for what is no number of tokens, and `StoreError` if the call is
    /// unknown, or was observed with other figures.
    #[pyo3(signature = (prompt, output=None, *, cache_read=0, cache_write=0, call=None))]
    fn observe(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyAny>,
        output: Option<&Bound<'_, PyAny>>,
        cache_read: u64,
        cache_write: u64,
        call: Option<u64>,
    ) -> PyResult<()> {
        let usage = Usage { cache_read, cache_write, ..prepare::usage(prompt, output)? };
        self.run(py, |engine| Ok(engine.observe(usage, call)?))
    }

    /// Folds now, because you ask. `focus` says in words what to keep. Raises `BudgetError` if
    /// nothing fits the window.
    #[pyo3(signature = (focus=None))]
    fn compact<'py>(&self, py: Python<'py>, focus: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        self.folding(py, focus, false)
    }

    /// Says what `compact` would do, without doing it. Raises what that raises.
    #[pyo3(signature = (focus=None))]
    fn preview<'py>(&self, py: Python<'py>, focus: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        self.folding(py, focus, true)
    }

    /// Takes back a fold and those after it; without an id the active one. Its record stays. Raises
    /// `InputError` if there is no such fold.
    #[pyo3(signature = (fold=None))]
    fn undo(&self, py: Python<'_>, fold: Option<&str>) -> PyResult<()> {
        let fold = fold.map(hash).transpose()?;
        self.run(py, |engine| Ok(engine.undo(fold)?))
    }

    /// Keeps the message at this place, with its calls and results, out of every later fold.
    ///
    /// Raises `InputError` if there is no such message.
    fn pin(&self, py: Python<'_>, seq: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pinned(py, seq, true)
    }

    /// Lets a pinned message go. Raises what `pin` raises.
    fn unpin(&self, py: Python<'_>, seq: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pinned(py, seq, false)
    }

    /// Says that the contexts go to another model from now on. Its window is `window`, in tokens,
    /// else the model's own if it is known, else the one before.
    ///
    /// Raises `BudgetError` if the reserves leave nothing of the window.
    #[pyo3(signature = (model, window=None))]
    fn update_model(
        &self,
        py: Python<'_>,
        model: &str,
        window: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let window = prepare::tokens("window", window)?;
        self.run(py, |engine| Ok(engine.update_model(model, window)?))
    }

    /// Changes the policy, from the next fold on. It is on record: `status()` has its name, its
    /// fingerprint and since when it holds, each fold the fingerprint of its own.
    ///
    /// Raises `PolicyError` if it cannot be used, `BudgetError` if nothing is left.
    #[pyo3(signature = (policy=None, *, preset=None, tiers=None, narrate=false))]
    fn set_policy(
        &self,
        py: Python<'_>,
        policy: Option<&Bound<'_, PyAny>>,
        preset: Option<&str>,
        tiers: Option<&Bound<'_, PyAny>>,
        narrate: bool,
    ) -> PyResult<()> {
        self.change_policy(py, policy, preset, tiers, narrate)
    }

    /// Answers whether the model sees a text, or a message by its place: where it is, when it left
    /// and by which rule, and whether it was asked for again. `call` asks about an earlier request
    /// of a stored session, by its number.
    ///
    /// Raises `InputError` if there is no such message or request, or the text is empty.
    #[pyo3(signature = (text_or_event, *, call=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text_or_event: &Bound<'py, PyAny>,
        call: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.explained(py, text_or_event, call)
    }

    /// Holds every record against the log: whether all is `ok`, what does not hold (`findings`),
    /// and what each fold lost (`receipts`).
    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.audited(py)
    }

    /// Returns the calls of a new message that hold placeholders: what a fold printed in the place
    /// of content. Before they run, answer each with its `reason`. Raises what `append` raises.
    fn placeholders(&self, py: Python<'_>, messages: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.placeholders_in(py, messages)
    }

    /// Returns the requests of the ledger, oldest first, each with the `usage` that the provider
    /// reported. A session in memory has none.
    fn ledger<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.ledger_calls(py)
    }

    /// Compares three ways of folding by the tokens at the start of a prompt that the next turn
    /// repeats: the provider can read them from its cache. They are a fixed `marker`, a recap that
    /// is `regenerated` each turn, and a fold that stays (`frozen`). `None` if there is no turn
    /// before the last, or nothing to fold.
    ///
    /// Raises `BudgetError` if nothing fits the window.
    fn cache_check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.run(py, |engine| Ok(engine.cache_check()?))?)
    }

    /// Returns the session in figures, in tokens and numbers of messages: its window, its budget,
    /// where folding starts, and whether a fold is due.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.run(py, |engine| Ok(engine.status()?))?)
    }

    /// Returns the records of all folds that were made, oldest first.
    fn folds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &self.run(py, |engine| Ok(serde_json::to_vec(&engine.folds()?)?))?)
    }

    /// Returns what a model should be asked now, if anything. Give its answer to `complete`.
    ///
    /// Raises `StoreError` for a stored session: its store has a queue, which `work` answers.
    fn wants(&self, py: Python<'_>) -> PyResult<Option<SummaryRequest>> {
        self.run(py, |engine| Ok(engine.wants()?.map(|request| SummaryRequest { request })))
    }

    /// Takes the model's answer to a request: a text, or why there is none (`error="timeout"`).
    /// Returns the verdict: `accepted`, or why it will not be used.
    ///
    /// `finish` is the provider's reason for the end of the reply, `model` the name that records
    /// show, `prompt` and `output` what the provider counted, in tokens.
    ///
    /// Raises `InputError` for a request of another session, or an unknown kind of failure.
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
        self.run(py, |engine| Ok(engine.complete(request, answer)?.code.to_string()))
    }

    /// Finds messages of the log by what they say, those that were folded included.
    ///
    /// `mode` is how the query is read. `role`, `tool` (a name or a kind), `errors`, `folded` and
    /// `range` (`"12-80"`) narrow it; with one of them the query may be empty: then all that pass
    /// are listed, the oldest first. `context` is the lines around each line that is found, `limit`
    /// the most messages, `skip` how many are left out before them.
    ///
    /// Raises `InputError` for a range, a role, a mode or a regular expression that is none.
    #[pyo3(signature = (query="", *, mode="text", role=None, tool=None, errors=false, folded=false,
                        range=None, context=0, limit=10, skip=0))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python method")]
    fn recall_grep<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        mode: &str,
        role: Option<String>,
        tool: Option<String>,
        errors: bool,
        folded: bool,
        range: Option<&str>,
        context: usize,
        limit: u32,
        skip: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (mode, query) = (recall::mode(mode)?, query.to_owned());
        let outcome = errors.then_some(WantedOutcome::Failed);
        let within = range.map(GrepQuery::range).transpose().map_err(Failure::from)?;
        let ask =
            GrepQuery { query, mode, role, tool, outcome, folded, within, context, limit, skip };
        objects(py, &self.run(py, |engine| recall::grep(engine, &ask))?)
    }

    /// Lists at most `limit` messages from place `start` on: role, tool and target, outcome, size.
    #[pyo3(signature = (*, start=0, limit=50, folded=false))]
    fn recall_outline<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        limit: u32,
        folded: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.run(py, |engine| recall::outline(engine, start, limit, folded))?)
    }

    /// Brings back originals, calls with their results: a message (`12`, `"@12"`), a range
    /// (`"12-20"`), a list (`[12, 15]`, `"12,15-20"`), `"active"` or a fold's id.
    ///
    /// A page has at most `max_chars` characters of text; its `next` is the `cursor` of the next.
    ///
    /// Raises `InputError` if there is no such message or fold.
    #[pyo3(signature = (what, *, cursor=None, max_chars=8_000))]
    fn recall_expand<'py>(
        &self,
        py: Python<'py>,
        what: &Bound<'py, PyAny>,
        cursor: Option<&str>,
        max_chars: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = ExpandTarget::parse(&what.str()?.to_cow()?).map_err(Failure::from)?;
        objects(py, &self.run(py, |engine| recall::expand(engine, &target, cursor, max_chars))?)
    }

    /// Says what a fold covers: `"active"`, or its id. Raises `InputError` if there is none.
    #[pyo3(signature = (fold="active"))]
    fn recall_describe<'py>(&self, py: Python<'py>, fold: &str) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.run(py, |engine| recall::describe(engine, fold))?)
    }

    /// Lists the names (paths, symbols, ids, numbers) that left the context, those that are most
    /// likely needed for `question` first, in at most `max_chars` characters.
    #[pyo3(signature = (question="", max_chars=2_000))]
    fn recall_names<'py>(
        &self,
        py: Python<'py>,
        question: &str,
        max_chars: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.run(py, |engine| recall::names(engine, question, max_chars))?)
    }

    /// Answers a call of one of the tools of `midfold.recall_tools`: plain text, always, even if
    /// `arguments` (JSON as text, or the dict) cannot be used.
    fn recall(&self, py: Python<'_>, name: &str, arguments: &Bound<'_, PyAny>) -> PyResult<String> {
        let arguments: String = match arguments.extract() {
            Ok(text) => text,
            Err(_) => py.import("json")?.call_method1("dumps", (arguments,))?.extract()?,
        };
        self.run(py, |engine| Ok(engine.recall(name, &arguments)?))
    }

    /// Makes a session of its own over the first `at` messages (all without), with the folds that
    /// apply.
    ///
    /// Raises `InputError` if there are not so many, `StoreError` if the id is taken.
    #[pyo3(signature = (id=None, *, at=None))]
    fn fork(&self, py: Python<'_>, id: Option<String>, at: Option<u64>) -> PyResult<Self> {
        self.forked(py, &id.map_or_else(|| new_id(py), Ok)?, at)
    }

    /// An independent session: in memory an exact copy, in a store a fork with an id of its own.
    fn __deepcopy__(slf: &Bound<'_, Self>, memo: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        Self::copied(slf, &new_id(slf.py())?, memo)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.run(py, |engine| Ok(engine.len()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.run(py, |engine| Ok(format!("Session({:?}, events={})", engine.id(), engine.len())))
    }
}
