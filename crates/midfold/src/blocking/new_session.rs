//! The settings of a new session, and how one is opened.

use std::collections::HashSet;

use bytes::Bytes;
use midfold_core::policy::Policy;
use midfold_formats::DialectKind;
use midfold_store::types::SessionRow;
use midfold_store::{Millis, SessionMeta, StoreError, StoredSession};

use super::{
    Clock, NamedSettings, Session, SessionError, SessionInStore, SessionPlace, StorePlace, fork,
};
use crate::after_fold::AfterFold;
use crate::settings::{DoorHost, Settings};
use crate::start::{self, PreparedSession, without_messages};

/// The settings that new sessions are made from.
#[derive(Clone)]
pub struct Start {
    /// The dialect of the messages.
    pub kind: DialectKind,
    /// When and how the session is folded.
    pub policy: Policy,
    /// The caller named the policy, or its preset: it holds for a session that is found in the store, too.
    pub is_policy_named: bool,
    /// The window, the model, the way to count, and the store.
    pub settings: Settings,
    /// The system prompt as JSON.
    pub system: Option<Bytes>,
    /// The tools as JSON.
    pub tools: Option<Bytes>,
    /// Tokens of the window that stay free for the answer.
    pub output_reserve: u64,
    /// How long the provider's cache keeps a prompt, in milliseconds. With `None`, a pause is no reason for a fold.
    pub cache_lifetime: Option<Millis>,
    /// The door that opens the session, which decides how errors spell options.
    pub host: DoorHost,
    /// Reads the time.
    pub clock: Clock,
}

impl Start {
    /// Settings for a session in memory with messages of Chat Completions.
    #[must_use]
    pub fn new(policy: Policy, host: DoorHost, clock: Clock) -> Self {
        Self {
            kind: DialectKind::OpenAiChat,
            policy,
            is_policy_named: false,
            settings: Settings::default(),
            system: None,
            tools: None,
            output_reserve: 0,
            cache_lifetime: None,
            host,
            clock,
        }
    }

    /// What the caller named of a session that may be in the store already.
    pub(super) fn named(&self) -> NamedSettings {
        NamedSettings {
            window: self.settings.window,
            model: self.settings.model.clone(),
            policy: self.is_policy_named.then(|| self.policy.clone()),
        }
    }

    /// Makes the session in the store of the settings; without one, in memory.
    ///
    /// # Errors
    /// If a name is unknown, if the reserves leave nothing of the window, if the id is taken, or if the store fails.
    pub fn open(self, id: String) -> Result<Session, SessionError> {
        let place = self.place()?;
        self.open_in(id, place)
    }

    /// Opens the store of the settings; `None` if they name none.
    pub(super) fn place(&self) -> Result<Option<StorePlace>, SessionError> {
        let url = self.settings.store.as_deref();
        url.map(|url| StorePlace::open(url, self.host.door)).transpose()
    }

    /// Makes the session in an open store, or in memory if there is none.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_in(self, id: String, place: Option<StorePlace>) -> Result<Session, SessionError> {
        let Self {
            kind,
            policy,
            is_policy_named: _,
            settings,
            system,
            tools,
            output_reserve,
            cache_lifetime,
            host,
            clock,
        } = self;
        let after_fold = settings.after_fold.clone();
        let model = settings.model.clone();
        let system = system.map(|json| String::from_utf8_lossy(&json).into_owned());
        let empty = without_messages(kind, system.as_deref(), tools, model);
        let prepared =
            settings.setup(&host)?.prepare(empty).map_err(|error| advised(error, host))?;
        let start =
            start::Start { output_reserve, cache_lifetime, ..start::Start::new(id, policy) };
        let started = start.check(&prepared, clock(), host.door)?;
        let session = match place {
            Some(place) => {
                started.can_be_stored()?;
                Session::create(place, started, clock)?
            }
            None => Session::in_memory(started.in_memory(), clock),
        };
        Ok(session.with_after_fold(after_fold))
    }
}

impl Session {
    /// Puts these texts back with every fold that this session makes. A file that cannot be read is named in the recap
    /// and in the record of the fold.
    #[must_use]
    pub fn with_after_fold(mut self, texts: AfterFold) -> Self {
        let Some(hooks) = texts.hooks(|_, _| {}) else { return self };
        match &mut self.place {
            SessionPlace::Memory(memory) => memory.session.set_hooks(hooks),
            SessionPlace::Stored(in_store) => {
                in_store.stored.set_hooks(Some(hooks));
            }
        }
        self
    }

    /// Makes the session in a store, with its first messages.
    fn create(
        place: StorePlace,
        started: PreparedSession,
        clock: Clock,
    ) -> Result<Self, SessionError> {
        let first = started.messages();
        let stored = place.run(started.store(place.store(), first))?;
        Ok(Self::stored(SessionInStore { stored, place }, clock))
    }

    /// Opens a session that is in a store.
    ///
    /// # Errors
    /// If there is no session with this id, or if the store fails.
    pub fn load(place: StorePlace, id: &str, clock: Clock) -> Result<Self, SessionError> {
        let (store, door) = (place.store(), place.door());
        let stored = place.run(async {
            match StoredSession::open(store.clone(), id).await {
                Ok(stored) => Ok(stored),
                Err(error) => Err(crate::advise_in(&*store, error, door).await),
            }
        })?;
        Ok(Self::stored(SessionInStore { stored, place }, clock))
    }

    /// Opens the session with this id; `None` if the store has none. If the host's list went back since, this is the
    /// newest fork of that session.
    ///
    /// # Errors
    /// If the store fails.
    pub fn find(place: &StorePlace, id: &str, clock: Clock) -> Result<Option<Self>, SessionError> {
        let store = place.store();
        match place.run(store.session(id)) {
            Ok(_) => {}
            Err(StoreError::NoSession(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let forks = place.run(store.sessions_beginning(&fork::prefix(id), fork::MOST))?;
        // The prefix alone also fits a session whose own id has a tilde.
        let forks: Vec<_> = forks.iter().filter(|row| fork::is_of(&row.new.id, id)).collect();
        // A clock may give a fork the same time as its parent, or an earlier time, so the time alone does not tell.
        let parents: HashSet<_> = forks.iter().filter_map(|row| parent(row)).collect();
        let childless = forks.iter().map(|row| &row.new).filter(|new| !parents.contains(&new.id));
        let newest = childless.max_by_key(|new| new.created).map_or(id, |new| &new.id);
        Self::load(place.clone(), newest, clock).map(Some)
    }
}

/// The id of the session that this one was forked from.
fn parent(row: &SessionRow) -> Option<String> {
    let meta: SessionMeta = serde_json::from_str(&row.new.meta).ok()?;
    meta.parent.map(|(id, _)| id)
}

fn advised(error: impl crate::AdvisedError, host: DoorHost) -> crate::Failure {
    error.advise(host.door)
}
