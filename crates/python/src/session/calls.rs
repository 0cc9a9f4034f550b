//! What the methods of a session do with Python objects before and after the engine.

use midfold::blocking::{ForcedFold, NamedSettings, Session as Engine, Start, StorePlace};
use midfold::{AfterFold, Door, FailureArea, IncomingMessages, RefusedRequest};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::Session;
use super::ids::new_id;
use crate::clock::now;
use crate::context::Context;
use crate::errors::Failure;
use crate::json;
use crate::list::HostList;
use crate::messages::{self, GivenMessages};
use crate::prepare;
use crate::python::objects;

impl Session {
    /// Appends the given messages, and keeps their objects. Returns the places of the messages.
    pub(super) fn append_given(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        key: Option<String>,
        expect: Option<u64>,
    ) -> PyResult<Vec<u64>> {
        let given = given(py, messages)?;
        let bytes = given.bytes();
        let incoming = py.detach(|| IncomingMessages::read(&bytes, "messages", Door::Python));
        let incoming = incoming.map_err(Failure::from)?;
        let first = self.run(py, |engine| {
            let events = incoming.events_for(engine.dialect(), engine.id())?;
            Ok(engine.append(events, key, expect)?)
        })?;
        // `events_for` makes one event of each message that was read.
        let sources = incoming.messages().iter().map(|event| &event.source[..]);
        let objects = given.objects(sources, incoming.wrapper());
        let count = objects.len() as u64;
        let mut known = self.known(py);
        for (seq, object) in (first..).zip(objects) {
            if let Some(object) = object {
                known.insert(seq, object.unbind());
            }
        }
        Ok((first..first + count).collect())
    }

    /// The context with the texts of hooks.
    pub(super) fn context_with(
        &self,
        py: Python<'_>,
        inject: Option<&Bound<'_, PyAny>>,
        reserve: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Context> {
        let texts = messages::texts(inject)?;
        let reserves = messages::reserves(reserve)?;
        let handed = self.run(py, |engine| {
            let texts: Vec<(&str, &str)> = texts.iter().map(|(n, text)| (&**n, &**text)).collect();
            let reserves = reserves.iter().map(|(name, tokens)| (name.as_str(), *tokens));
            let hooks = midfold::injections(reserves, texts.iter().map(|(name, _)| *name))?;
            Ok(engine.context(hooks, &texts)?)
        })?;
        self.handed_out(py, handed)
    }

    /// The context of a host's list.
    pub(super) fn project_list(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        force: Option<ForcedFold<'_>>,
    ) -> PyResult<Context> {
        let list = HostList::read(py, messages)?;
        let (kind, id) =
            self.run(py, |session| Ok((session.dialect(), session.id().to_owned())))?;
        let events = list.events_for(kind, &id)?;
        let handed = self.run(py, |session| Ok(session.project(&events, force)?))?;
        self.projected(py, handed, &list)
    }

    /// The context after a refusal, given as text or as what JSON was read to.
    pub(super) fn recover_from(
        &self,
        py: Python<'_>,
        error: &Bound<'_, PyAny>,
        status: Option<u16>,
        reply: u64,
    ) -> PyResult<Option<Context>> {
        let (error_body, raised) = match error.is_instance_of::<PyBaseException>() {
            true => refusal(error)?,
            false => (error.clone(), None),
        };
        let status = status.or(raised);
        let body = match (error_body.cast::<PyString>(), error_body.cast::<PyBytes>()) {
            (Ok(text), _) => text.to_string_lossy().into_owned().into_bytes(),
            (_, Ok(bytes)) => bytes.as_bytes().to_vec(),
            _ => json::bytes(&error_body, "error")?,
        };
        let refused = RefusedRequest { status, body: &body, reply };
        let handed = self.run(py, |engine| Ok(engine.recover(&refused)?))?;
        handed.map(|handed| self.handed_out(py, handed)).transpose()
    }

    /// Changes the policy to the one that is named in either way.
    pub(super) fn change_policy(
        &self,
        py: Python<'_>,
        policy: Option<&Bound<'_, PyAny>>,
        preset: Option<&str>,
        tiers: Option<&Bound<'_, PyAny>>,
        narrate: bool,
    ) -> PyResult<()> {
        if policy.is_none() && preset.is_none() {
            let text = "neither a policy nor a preset was given";
            return Err(Failure::new(FailureArea::Policy, text)
                .hint("say which holds from now on: set_policy(preset=\"default\")")
                .into());
        }
        let policy = prepare::policy(preset, policy, tiers, narrate)?;
        self.run(py, |engine| Ok(engine.set_policy(policy)?))
    }

    /// What the model sees of a text, or of a message by its number.
    pub(super) fn explained<'py>(
        &self,
        py: Python<'py>,
        text_or_seq: &Bound<'py, PyAny>,
        call: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let explanation = if let Ok(text) = text_or_seq.cast::<PyString>() {
            let text = text.to_cow()?.into_owned();
            self.run(py, |engine| Ok(engine.explain(&text, call)?))?
        } else {
            let seq = prepare::whole("text_or_event", text_or_seq, "12, or a text")?;
            self.run(py, |engine| Ok(engine.explain_event(seq, call)?))?
        };
        objects(py, &explanation)
    }

    /// Returns the calls with placeholders of messages that are not appended yet.
    pub(super) fn placeholders_in(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let bytes = given(py, messages)?.bytes();
        let incoming = py.detach(|| IncomingMessages::read(&bytes, "messages", Door::Python));
        let incoming = incoming.map_err(Failure::from)?;
        let placeholders = self.run(py, |engine| {
            let events = incoming.events_for(engine.dialect(), engine.id())?;
            Ok(engine.placeholders(&events)?)
        })?;
        Ok(objects(py, &placeholders)?.unbind())
    }

    /// Returns what an audit found; `ok` says that it found nothing wrong.
    pub(super) fn audited<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let audit = self.run(py, |engine| Ok(engine.audit()?))?;
        let dict = objects(py, &audit)?;
        dict.set_item("ok", audit.is_clean())?;
        Ok(dict)
    }

    /// The calls of the ledger, each with its usage.
    pub(super) fn ledger_calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (call, settled) in self.run(py, |engine| Ok(engine.ledger()?))? {
            let dict = objects(py, &call)?;
            dict.set_item("usage", objects(py, &settled.map(|settled| settled.usage))?)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Keeps a message out of later folds, or lets it go.
    pub(super) fn pinned(
        &self,
        py: Python<'_>,
        seq: &Bound<'_, PyAny>,
        is_pinned: bool,
    ) -> PyResult<()> {
        let seq = prepare::whole("seq", seq, "12")?;
        self.run(py, |engine| Ok(engine.pin(seq, is_pinned)?))
    }

    /// Makes a session, in a store or in memory.
    pub(super) fn opened(py: Python<'_>, start: Start, id: Option<String>) -> PyResult<Self> {
        let id = id.map_or_else(|| new_id(py), Ok)?;
        Ok(Self::of(py.detach(|| start.open(id)).map_err(Failure::from)?))
    }

    /// Opens a session that is in a store.
    pub(super) fn loaded(
        py: Python<'_>,
        store: &str,
        id: &str,
        named: &NamedSettings,
        after_fold: AfterFold,
    ) -> PyResult<Self> {
        let load =
            || Engine::load(StorePlace::existing(store, Door::Python)?, id, now)?.with_named(named);
        let loaded = py.detach(load).map_err(Failure::from)?;
        Ok(Self::of(loaded.with_after_fold(after_fold)))
    }

    /// Makes a session of its own over the first messages, with their objects.
    pub(super) fn forked(&self, py: Python<'_>, id: &str, at: Option<u64>) -> PyResult<Self> {
        let engine = self.run(py, |engine| Ok(engine.fork(id, at)?))?;
        let copy = |(seq, message): (&u64, &Py<PyAny>)| (*seq, message.clone_ref(py));
        // The objects of messages behind the fork belong to the parent alone.
        let is_kept = |(seq, _): &(&u64, _)| **seq < engine.len() as u64;
        let shared = self.known(py).iter().filter(is_kept).map(copy).collect();
        Ok(Self::of(engine).with_known(py, shared))
    }

    /// Makes a copy of the session, with copies of its objects. `memo` is that of `copy.deepcopy`.
    pub(super) fn copied(
        session: &Bound<'_, Self>,
        id: &str,
        memo: &Bound<'_, PyAny>,
    ) -> PyResult<Py<Self>> {
        let (py, original) = (session.py(), session.get());
        let engine = original.run(py, |engine| Ok(engine.copy(id)?))?;
        let copy = Bound::new(py, Self::of(engine))?;
        // A message that refers to its session has to find this copy, and not to make another one.
        memo.set_item(session.as_ptr() as usize, &copy)?;
        let messages = PyDict::new(py);
        for (seq, message) in original.known(py).iter() {
            messages.set_item(seq, message)?;
        }
        let copied = py.import("copy")?.call_method1("deepcopy", (messages, memo))?;
        *copy.get().known(py) = copied.extract()?;
        Ok(copy.unbind())
    }
}

/// What a provider said when it refused a request, and the status of its answer, of an exception of an SDK: in `body`,
/// or in the text of its `response`, else in its own words.
fn refusal<'py>(error: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<u16>)> {
    let member =
        |of: &Bound<'py, PyAny>, name| of.getattr(name).ok().filter(|value| !value.is_none());
    let is_said = |value: &Bound<'py, PyAny>| {
        value.is_instance_of::<PyDict>()
            || value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyBytes>()
    };
    let response = member(error, "response");
    let text = || response.as_ref().and_then(|response| member(response, "text"));
    let body = member(error, "body").filter(is_said).or_else(|| text().filter(is_said));
    let number = |of: &Bound<'py, PyAny>, name| member(of, name)?.extract::<u16>().ok();
    let status = number(error, "status_code")
        .or_else(|| number(error, "status"))
        .or_else(|| number(response.as_ref()?, "status_code"));
    let body = body.map_or_else(|| error.str().map(Bound::into_any), Ok)?;
    Ok((body, status))
}

/// Messages as a caller gave them. One message counts as a list of one, so that its object is kept as well.
fn given<'py>(py: Python<'py>, messages: &Bound<'py, PyAny>) -> PyResult<GivenMessages<'py>> {
    match messages.is_instance_of::<PyDict>() {
        true => GivenMessages::new(PyList::new(py, [messages])?.as_any()),
        false => GivenMessages::new(messages),
    }
}
