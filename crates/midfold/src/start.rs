//! Starts a session: its settings are checked before a store is opened, then it is made in the store or in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::{Session, SessionState};
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::{PlanError, runs_here};
use midfold_core::policy::Policy;
use midfold_core::{Hash, RawEvent};
use midfold_formats::DialectKind;
use midfold_formats::convert::system_prompt;
use midfold_formats::read::{Conversation, Envelope};
use midfold_store::{
    Millis, NewSession, SessionMeta, Store, StoreError, StoredError, StoredSession,
};
use midfold_tokens as tokens;

use crate::advice::AdvisedError;
use crate::append::events_of;
use crate::failure::{Door, Failure, FailureArea};
use crate::prepare::PreparedConversation;

/// The settings of a new session, beside the prepared conversation.
pub struct Start {
    /// Its id.
    pub id: String,
    /// When and how it is folded.
    pub policy: Policy,
    /// Tokens of the window that stay free for the answer.
    pub output_reserve: u64,
    /// The file that it is imported from, if any.
    pub source: Option<String>,
    /// Whose session it is, if several owners share a store.
    pub owner: Option<String>,
    /// How long the provider's cache keeps a prompt, in milliseconds: see [`Session::set_cache_lifetime`]. With `None`,
    /// a pause is no reason for a fold.
    pub cache_lifetime: Option<Millis>,
}

/// The checked settings of a session, which can now be made.
pub struct PreparedSession {
    new: NewSession,
    budget: Budget,
    state: SessionState,
    policy: Policy,
    kind: DialectKind,
    log: EventLog,
    envelope: Vec<Bytes>,
    cache_lifetime: Option<Millis>,
}

/// A session in memory, and the record that a store would keep of it.
#[derive(Clone)]
pub struct InMemory {
    /// The session.
    pub session: Session,
    /// The budget that its contexts have to fit.
    pub budget: Budget,
    /// The record of the session; recall reads it.
    pub new: NewSession,
    /// The appends that had a key.
    pub appended: KeyedAppends,
}

/// The appends of a session in memory that had a key, by which a retry is recognised.
#[derive(Clone, Debug, Default)]
pub struct KeyedAppends {
    /// For each key, the hash of the appended events and the number of the first one.
    known: HashMap<String, (Hash, u64)>,
}

impl KeyedAppends {
    /// The number of the first event that was appended with this key; `None` for a new key.
    ///
    /// # Errors
    /// If the key belongs to other events.
    pub fn find_first(&self, key: &str, events: &[RawEvent]) -> Result<Option<u64>, StoreError> {
        let Some((hash, first)) = self.known.get(key) else { return Ok(None) };
        match *hash == hash_of(events) {
            true => Ok(Some(*first)),
            false => Err(StoreError::KeyReused(key.to_owned())),
        }
    }

    /// Notes an append with a key.
    pub fn note(&mut self, key: String, events: &[RawEvent], first: u64) {
        self.known.insert(key, (hash_of(events), first));
    }
}

fn hash_of(events: &[RawEvent]) -> Hash {
    events.iter().fold(Hash::ROOT, |hash, event| hash.chain(&event.bytes))
}

/// A conversation that has no messages yet: only a model, a system prompt and tools. `system` is a text or JSON,
/// `tools` is JSON.
#[must_use]
pub fn without_messages(
    kind: DialectKind,
    system: Option<&str>,
    tools: Option<Bytes>,
    model: Option<String>,
) -> Conversation {
    let system = system.map(|given| system_prompt(kind, given));
    let envelope = Envelope { system, tools, model, wrapper: None };
    Conversation { id: None, format: kind.into(), events: Vec::new(), envelope, line: 1 }
}

/// Checks that a session or a server can run the engine of this policy.
///
/// # Errors
/// If the engine is a command, or one that a host would have to register.
pub fn can_run(policy: &Policy, door: Door) -> Result<(), Failure> {
    runs_here(policy).map_err(|error| Failure { is_usage: true, ..error.advise(door) })
}

/// Converts the lifetime of a provider's cache from seconds to milliseconds; `None` for 0, which means that no pause is
/// long enough to clear it.
///
/// # Errors
/// If the number is negative, not finite or too large.
pub fn cache_lifetime(seconds: f64) -> Result<Option<Millis>, Failure> {
    let Ok(lifetime) = Duration::try_from_secs_f64(seconds) else {
        let text = format!("a cache does not keep prompts for {seconds} seconds");
        return Err(Failure::usage(FailureArea::Input, text).hint("say 300 for five minutes"));
    };
    let millis = Millis::try_from(lifetime.as_millis()).unwrap_or(Millis::MAX);
    Ok(Some(millis).filter(|millis| *millis > 0))
}

impl Start {
    /// Settings that reserve nothing of the window, without an owner.
    #[must_use]
    pub fn new(id: impl Into<String>, policy: Policy) -> Self {
        Self {
            id: id.into(),
            policy,
            output_reserve: 0,
            source: None,
            owner: None,
            cache_lifetime: None,
        }
    }

    /// Checks that the session can be made. `now` becomes the time at which it was made.
    ///
    /// # Errors
    /// If the reserves leave nothing of the window, or if no session can run the policy's engine.
    pub fn check(
        self,
        prepared: &PreparedConversation,
        now: Millis,
        door: Door,
    ) -> Result<PreparedSession, Failure> {
        let Self { id, policy, output_reserve, source, owner, cache_lifetime } = self;
        can_run(&policy, door)?;
        let budget = Budget {
            output_reserve,
            injection_reserve: policy.trigger.injection_reserve,
            ..Budget::new(prepared.window)
        };
        budget
            .check()
            .map_err(|error| Failure { is_usage: true, ..PlanError::from(error).advise(door) })?;
        let Envelope { system, tools, model, .. } = &prepared.source.envelope;
        let envelope: Vec<Bytes> = [system, tools].into_iter().flatten().cloned().collect();
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        let meta = SessionMeta {
            budget: budget.clone(),
            envelope: envelope.iter().map(text).collect(),
            parent: None,
            source,
            owner,
            model: None,
            client: None,
            cache_lifetime,
        };
        let new = NewSession {
            id,
            dialect: prepared.kind.name().to_owned(),
            profile: prepared.log.profile().name.to_owned(),
            counter: prepared.log.counter().name().to_owned(),
            policy: policy.to_toml(),
            meta: serde_json::to_string(&meta).map_err(|error| error.advise(door))?,
            created: now,
        };
        let state = SessionState {
            model: model.clone().unwrap_or_default(),
            meter: (prepared.meter.samples > 0).then_some(prepared.meter),
            ..SessionState::default()
        };
        let (kind, log) = (prepared.kind, prepared.log.clone());
        Ok(PreparedSession { new, budget, state, policy, kind, log, envelope, cache_lifetime })
    }
}

impl PreparedSession {
    /// The prepared messages, for example a system prompt that the dialect keeps among them.
    #[must_use]
    pub fn messages(&self) -> Vec<RawEvent> {
        events_of(&self.log)
    }

    /// Checks that the session can be kept in a store.
    ///
    /// # Errors
    /// If it counts with a tokenizer file, which other nodes do not have.
    pub fn can_be_stored(&self) -> Result<(), Failure> {
        let counter = &self.new.counter;
        if tokens::by_name(counter).is_ok() {
            return Ok(());
        }
        let text = format!(
            "a stored session cannot count with the file {counter}: other nodes do not have it"
        );
        Err(Failure::usage(FailureArea::Tokenizer, text)
            .hint(format!("use one of {}", tokens::names().join(", "))))
    }

    /// Makes the session in a store, with its first messages, in one commit.
    ///
    /// # Errors
    /// If the id is taken, or if the store fails. Nothing is stored then.
    pub async fn store(
        self,
        store: Arc<dyn Store>,
        first: Vec<RawEvent>,
    ) -> Result<StoredSession, StoredError> {
        StoredSession::create_with(store, self.new, self.state, first).await
    }

    /// Makes the session in memory, with its messages.
    #[must_use]
    pub fn in_memory(self) -> InMemory {
        let Self { new, budget, state, policy, kind, log, envelope, cache_lifetime } = self;
        let messages = events_of(&log);
        let counter = Arc::clone(log.counter());
        let mut log = EventLog::new(kind.shared(), *log.profile(), counter).append_only();
        log.set_envelope(envelope.iter().map(|part| &part[..]));
        let meter = state.meter.unwrap_or_else(|| Meter::first(log.counter().name()));
        let mut session = Session::over(&new.id, log, policy, meter);
        session.set_cache_lifetime(cache_lifetime);
        if !state.model.is_empty() {
            session.update_model(&state.model);
        }
        for message in messages {
            session.append(message);
        }
        InMemory { session, budget, new, appended: KeyedAppends::default() }
    }
}
