//! The tools with which the cases are written.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::Hash;

use crate::changes::SessionChanges;
use crate::error::StoreError;
use crate::single::SingleChange;
use crate::store::Store;
use crate::types::{AppendOutcome, AppendRequest, NewEvent, NewFold, NewJob, NewSession};

/// The outcome of a case: `Ok`, or a description of what was wrong.
pub type CaseOutcome = Result<(), String>;

/// Fails the case with a message unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(format!($($message)*));
        }
    };
}

/// Fails the case unless both values are equal.
macro_rules! equal {
    ($actual:expr, $wanted:expr, $what:expr) => {
        match (&$actual, &$wanted) {
            (actual, wanted) if actual == wanted => {}
            (actual, wanted) => {
                return Err(format!("{}: found {actual:?}, wanted {wanted:?}", $what));
            }
        }
    };
}

/// Fails the case unless the outcome is this error.
macro_rules! refused {
    ($outcome:expr, $pattern:pat $(if $guard:expr)?, $what:expr) => {
        match $outcome {
            Err($pattern) $(if $guard)? => {}
            other => return Err(format!("{}: got {other:?}", $what)),
        }
    };
}

pub(super) use {ensure, equal, refused};

/// The message of an error in a step that has to succeed.
pub(super) fn error_text(error: StoreError) -> String {
    error.to_string()
}

/// A new session with messages of Chat Completions.
pub(super) fn new_session(id: &str) -> NewSession {
    NewSession {
        id: id.to_owned(),
        dialect: "openai-chat".to_owned(),
        profile: "openai".to_owned(),
        counter: "chars:4".to_owned(),
        policy: "name = \"default\"\n".to_owned(),
        meta: "{\"of\":\"the conformance suite\"}".to_owned(),
        created: 1_700_000_000_000,
    }
}

/// Appends to a session, and remembers its head and chain hash.
pub(super) struct SessionWriter {
    pub(super) store: Arc<dyn Store>,
    pub(super) id: String,
    /// The number of events.
    pub(super) head: u64,
    /// The chain hash after the last event.
    pub(super) hash: Hash,
}

impl SessionWriter {
    pub(super) async fn new(store: &Arc<dyn Store>, id: &str) -> Result<Self, String> {
        store.create(new_session(id)).await.map_err(error_text)?;
        Ok(Self { store: store.clone(), id: id.to_owned(), head: 0, hash: Hash::ROOT })
    }

    /// The events with the hashes that they would get if they were appended now.
    pub(super) fn chained<B: Into<Bytes>>(
        &self,
        all: impl IntoIterator<Item = B>,
    ) -> Vec<NewEvent> {
        chain(self.hash, all)
    }

    /// Appends messages at the known head.
    pub(super) async fn append<B: Into<Bytes>>(
        &mut self,
        all: impl IntoIterator<Item = B>,
    ) -> Result<AppendOutcome, String> {
        self.append_with(all, None, None).await
    }

    /// Appends messages at the known head, with a key and a job.
    pub(super) async fn append_with<B: Into<Bytes>>(
        &mut self,
        all: impl IntoIterator<Item = B>,
        key: Option<&str>,
        job: Option<NewJob>,
    ) -> Result<AppendOutcome, String> {
        let events = self.chained(all);
        let hash = events.last().map_or(self.hash, |event| event.hash);
        let append =
            AppendRequest { expected: self.head, key: key.map(str::to_owned), events, now: 5 };
        let changes = SessionChanges { appended: Some(append), job, ..SessionChanges::default() };
        let outcome = self.store.commit(&self.id, &changes).await.map_err(error_text)?;
        let answer = outcome.appended.ok_or_else(|| "an append has no place".to_owned())?;
        if !answer.repeated {
            self.head += answer.count;
            self.hash = hash;
        }
        Ok(answer)
    }

    /// Appends `count` messages of the same size.
    pub(super) async fn fill(&mut self, count: usize) -> Result<(), String> {
        let mut remaining = count;
        while remaining > 0 {
            let now = remaining.min(500);
            let from = self.head;
            self.append((0..now as u64).map(|at| user(&format!("event {:08}", from + at)))).await?;
            remaining -= now;
        }
        Ok(())
    }
}

/// Events whose hashes continue the chain after `hash`.
pub(super) fn chain<B: Into<Bytes>>(
    mut hash: Hash,
    all: impl IntoIterator<Item = B>,
) -> Vec<NewEvent> {
    let event = |bytes: B| {
        let bytes: Bytes = bytes.into();
        hash = hash.chain(&bytes);
        NewEvent { bytes, hash, turn: 1, tokens: 7, usage: None, origin: None }
    };
    all.into_iter().map(event).collect()
}

/// A user message with this text, which must need no escapes.
pub(super) fn user(text: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{text}\"}}")
}

/// A fold over a span. Another `name` gives another fold.
pub(super) fn fold(start: u64, end: u64, name: &str) -> NewFold {
    let hash = |part: &str| Hash::ROOT.chain(format!("{part} {name} {start} {end}").as_bytes());
    NewFold {
        id: hash("id"),
        start,
        end,
        before: hash("before"),
        through: hash("through"),
        policy: hash("policy"),
        recap: hash("recap"),
        kept: Vec::new(),
        body: format!("{{\"version\":1,\"name\":\"{name}\"}}"),
        now: 9,
    }
}

/// A job for a span.
pub(super) fn job(session: &str, key: &str, run_at: u64) -> NewJob {
    NewJob {
        key: key.to_owned(),
        session: session.to_owned(),
        start: 0,
        end: 4,
        through: Hash::ROOT.chain(key.as_bytes()),
        body: format!("{{\"for\":\"{key}\"}}"),
        run_at,
    }
}
