//! `midfold.Sessions`.

use midfold::blocking::{ForcedFold, Sessions as Held};
use midfold::formats::DialectKind;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Session;
use super::shared::SharedSession;
use crate::context::Context;
use crate::errors::Failure;
use crate::list::HostList;
use crate::start::SessionOptions;

/// The conversations of one host, found by the host's own ids, else by what is in them.
///
/// A host gives its whole list of messages each time, and gets what to send. The arguments are
/// those of `Session`, which hold for each of them, and `limit`: how many conversations are held.
/// Of more the one that was quiet for longest is let go; in a store it is found again by its id. A
/// window, a model, a preset or a policy that you name holds for those, too: see `Session.open`.
///
/// Raises `InputError` for an unknown name, `PolicyError`, `TokenizerError`, and `StoreError`.
///
/// >>> import midfold
/// >>> sessions = midfold.Sessions(window=4_000)
/// >>> kept = [{"role": "user", "content": "Why is the total off by one?"}]
/// >>> context = sessions.project(kept, id="thread-7")
/// >>> context.messages[0] is kept[0], context.session.id
/// (True, 'thread-7')
/// >>> sessions.find(kept).id
/// 'thread-7'
#[pyclass(frozen, module = "midfold")]
pub struct Sessions {
    sessions: Held<SharedSession>,
    kind: DialectKind,
}

#[pymethods]
impl Sessions {
    #[new]
    #[pyo3(signature = (
        *, window=None, preset=None, policy=None, dialect="openai-chat", profile=None,
        tokenizer=None, model=None, system=None, tools=None, output_reserve=0, narrate=false,
        tiers=None, after_fold=None, cache_lifetime=None, store=None, limit=64, **others
    ), text_signature = "(*, window=None, preset=None, policy=None, dialect='openai-chat', \
        profile=None, tokenizer=None, model=None, system=None, tools=None, output_reserve=0, \
        narrate=False, tiers=None, after_fold=None, cache_lifetime=None, store=None, limit=64)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python class")]
    fn new(
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
        limit: usize,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let named = SessionOptions {
            window,
            preset,
            policy,
            dialect,
            profile,
            tokenizer,
            model,
            system,
            tools,
            output_reserve,
            narrate,
            tiers,
            after_fold,
            cache_lifetime,
            store,
            others,
        };
        let start = named.start("Sessions", "limit")?;
        Ok(Self { kind: start.kind, sessions: Held::new(start, limit, SharedSession::from) })
    }

    /// Takes all messages of a conversation, as the host's list is now, and returns what to send,
    /// as `Session.project` does.
    ///
    /// `id` is the host's own name of the conversation; in a store it is the session's id. Without
    /// it the conversation is the one that has most in common with the list.
    ///
    /// Raises what `Session` and `Session.project` raise.
    #[pyo3(signature = (messages, *, id=None, focus=None, force=false))]
    fn project(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        id: Option<&str>,
        focus: Option<&str>,
        force: bool,
    ) -> PyResult<Context> {
        let list = HostList::read(py, messages)?;
        let events = list.events_for(self.kind, id.unwrap_or("new"))?;
        let force = (force || focus.is_some()).then_some(ForcedFold { focus });
        let outcome = py.detach(|| self.sessions.project(id, &events, force));
        // Ctrl-C may have come while Python was not running.
        py.check_signals()?;
        let (session, handed) = outcome.map_err(Failure::from)?;
        Session { inner: session }.projected(py, handed, &list)
    }

    /// Returns the session of this id, else of the conversation that has most in common with the
    /// messages; `None` if there is none. Nothing is appended: tools that recall need this.
    ///
    /// Raises `InputError` for what is no list of messages, `StoreError` if the store fails.
    #[pyo3(signature = (messages=None, *, id=None))]
    fn find(
        &self,
        py: Python<'_>,
        messages: Option<&Bound<'_, PyAny>>,
        id: Option<&str>,
    ) -> PyResult<Option<Session>> {
        let list = messages.map(|messages| HostList::read(py, messages)).transpose()?;
        let events =
            list.map(|list| list.events_for(self.kind, id.unwrap_or("new"))).transpose()?;
        let outcome = py.detach(|| self.sessions.find(id, &events.unwrap_or_default()));
        Ok(outcome.map_err(Failure::from)?.map(|inner| Session { inner }))
    }
}
