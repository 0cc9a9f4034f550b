//! The changes of one session, which a store takes over in one transaction.

use midfold_core::Hash;
use midfold_core::engine::Session;

use crate::error::StoreError;
use crate::types::{
    AppendOutcome, AppendRequest, Millis, NewCall, NewEvent, NewFold, NewJob, NewSession,
    SessionRow,
};

/// Everything that changed in a session since it was saved. A store takes over all of it or nothing, so that no order
/// of writes exists in which a crash could leave a half session.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), midfold_store::StoreError> {
/// use midfold_store::{MemoryStore, NewSession, SessionChanges, Store};
/// let store = MemoryStore::new();
/// let new = NewSession { id: "mine".to_owned(), ..NewSession::default() };
/// store.commit("mine", &SessionChanges::created(new)).await?;
/// assert_eq!(store.session("mine").await?.head, 0);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionChanges {
    /// The session itself, where it is new.
    pub created: Option<NewSession>,
    /// The events behind the head that the caller expects.
    pub appended: Option<AppendRequest>,
    /// Folds to add, in order. A fold that is stored already is no change.
    pub folds: Vec<NewFold>,
    /// The new active fold.
    pub active: Option<ActiveChange>,
    /// Model calls to record, in order.
    pub calls: Vec<NewCall>,
    /// Usages that the provider reported for recorded calls. A usage that is recorded already is no change.
    pub usages: Vec<CallUsage>,
    /// The new state.
    pub state: Option<StateChange>,
    /// A job to queue. A job that was queued before, with the same key, is no change.
    pub job: Option<NewJob>,
    /// By what the session is found when its messages come again.
    pub identity: Option<SessionIdentity>,
}

/// Another fold becomes the active one, where `before` is still active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveChange {
    /// The fold that has to be active; `None` for no fold.
    pub before: Option<Hash>,
    /// The fold that becomes active; `None` for no fold.
    pub after: Option<Hash>,
}

/// The usage of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallUsage {
    /// The number of the call.
    pub call: u64,
    /// The usage as JSON.
    pub usage: String,
}

/// A new state, where its version is still `version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// How often the state was saved before.
    pub version: u64,
    /// The state as JSON.
    pub state: String,
}

/// A hash by which the first messages of a session are recognised. Where several sessions have the same beginning, the
/// last one that was noted is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionIdentity {
    /// The hash of the messages.
    pub identity: Hash,
    /// How many messages it covers.
    pub events: u64,
}

/// What a commit did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitOutcome {
    /// The place of the appended events. Where it repeats an earlier append with the same key, nothing at all of this
    /// commit was stored.
    pub appended: Option<AppendOutcome>,
}

impl CommitOutcome {
    /// Whether an earlier commit had stored these events under the same key.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.appended.is_some_and(|appended| appended.repeated)
    }
}

impl SessionChanges {
    /// A new session without events.
    #[must_use]
    pub fn created(new: NewSession) -> Self {
        Self { created: Some(new), ..Self::default() }
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.is_none() && self.is_state_alone()
    }

    /// Whether nothing but the state changed.
    #[must_use]
    pub fn is_state_alone(&self) -> bool {
        self.appended.is_none() && self.is_alone()
    }

    /// The number of events that come behind the head.
    #[must_use]
    pub fn new_events(&self) -> usize {
        self.appended.as_ref().map_or(0, |append| append.events.len())
    }

    /// The append, where nothing else changes and it has no key.
    pub(crate) fn events_alone(&self) -> Option<&AppendRequest> {
        let alone = self.is_alone() && self.state.is_none();
        self.appended.as_ref().filter(|append| alone && append.key.is_none())
    }

    /// Whether nothing but events and state changed.
    fn is_alone(&self) -> bool {
        let Self { created, appended: _, folds, active, calls, usages, state: _, job, identity } =
            self;
        created.is_none()
            && active.is_none()
            && job.is_none()
            && identity.is_none()
            && folds.is_empty()
            && calls.is_empty()
            && usages.is_empty()
    }
}

/// The parts of a session that a store has, as far as this process knows. The changes of a session are what it has
/// beyond them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedParts {
    /// How many events the store has.
    pub events: usize,
    /// How many folds the store has.
    pub folds: usize,
    /// The id of the active fold in the store.
    pub active: Option<Hash>,
    /// The state in the store, as JSON.
    pub state: String,
    /// The version of that state, which rises with each commit by any process.
    pub version: u64,
}

impl SavedParts {
    /// What the store has of a session with this row and this many folds.
    #[must_use]
    pub fn of(row: &SessionRow, folds: usize) -> Self {
        Self {
            events: usize::try_from(row.head).unwrap_or(usize::MAX),
            folds,
            active: row.active,
            state: row.state.clone(),
            version: row.state_version,
        }
    }

    /// The changes of a session since these parts were saved.
    ///
    /// # Errors
    /// Fails where a record cannot be written as JSON.
    pub fn changes(&self, session: &Session, now: Millis) -> Result<SessionChanges, StoreError> {
        let log = session.log();
        let events = &log.events()[self.events.min(log.len())..];
        let folds = session.folds()[self.folds.min(session.folds().len())..].iter();
        let active = session.active().map(|fold| fold.id);
        let state = serde_json::to_string(&session.state())?;
        Ok(SessionChanges {
            appended: (!events.is_empty()).then(|| AppendRequest {
                expected: self.events as u64,
                events: events.iter().map(NewEvent::of).collect(),
                key: None,
                now,
            }),
            folds: folds.map(|fold| NewFold::of(fold, now)).collect::<Result<_, _>>()?,
            active: (active != self.active)
                .then_some(ActiveChange { before: self.active, after: active }),
            state: (state != self.state).then_some(StateChange { version: self.version, state }),
            ..SessionChanges::default()
        })
    }

    /// Notes that these changes are stored.
    pub fn note(&mut self, changes: &SessionChanges) {
        self.events += changes.new_events();
        self.folds += changes.folds.len();
        if let Some(active) = changes.active {
            self.active = active.after;
        }
        if let Some(change) = &changes.state {
            self.state.clone_from(&change.state);
            self.version = change.version + 1;
        }
    }
}
