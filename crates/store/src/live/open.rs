//! Creates, opens, loads and forks stored sessions.

use std::sync::Arc;

use midfold_core::RawEvent;
use midfold_core::engine::{BriefError, BriefSession, Session, SessionState};
use midfold_core::fold::Fold;
use midfold_core::fold_standing::{FoldStanding, RecordedRequests, standings};
use midfold_core::inject::Injections;
use midfold_core::meter::Meter;
use midfold_core::plan::FoldCause;

use super::{LoadedParts, SessionMeta, StoredError, StoredSession, rows};
use crate::changes::{SavedParts, SessionChanges};
use crate::error::StoreError;
use crate::store::Store;
use crate::types::{FoldRow, LoadedSession, Millis, NewSession, SessionRow};

impl StoredSession {
    /// Creates an empty session in the store, and opens it.
    ///
    /// # Errors
    /// Fails as [`StoredSession::create_with`] does.
    pub async fn create(store: Arc<dyn Store>, new: NewSession) -> Result<Self, StoredError> {
        Self::create_with(store, new, SessionState::default(), Vec::new()).await
    }

    /// Creates a session with a state and its first messages, in one commit, and opens it.
    ///
    /// # Errors
    /// Fails where the id is taken, the row names something unknown, or the store fails.
    pub async fn create_with(
        store: Arc<dyn Store>,
        new: NewSession,
        state: SessionState,
        first: Vec<RawEvent>,
    ) -> Result<Self, StoredError> {
        // Names are checked before anything is stored.
        let row = SessionRow { new: new.clone(), ..SessionRow::default() };
        rows::check(&row)?;
        let (reading, meta) = (rows::reading(&row, &state.model)?, rows::meta(&row)?);
        let log = rows::log(reading, &meta, Vec::new());
        let mut session =
            Session::over(&new.id, log, rows::policy(&row)?, Meter::first(&row.new.counter));
        let is_plain = state == SessionState::default();
        if !is_plain {
            session.set_state(state);
        }
        first.into_iter().for_each(|event| {
            session.append(event);
        });
        let (id, now) = (new.id.clone(), new.created);
        let mut changes = SavedParts::default().changes(&session, now)?;
        if is_plain {
            changes.state = None;
        }
        store.commit(&id, &SessionChanges { created: Some(new), ..changes }).await?;
        Self::open(store, &id).await
    }

    /// Opens a session. Only the head, the active fold and the tail are read.
    ///
    /// # Errors
    /// Fails where there is no such session, it is damaged, or the store fails.
    pub async fn open(store: Arc<dyn Store>, id: &str) -> Result<Self, StoredError> {
        let loaded = store.load(id).await?;
        let row = loaded.session.clone();
        let meta = rows::meta(&row)?;
        let inner = assemble(&meta, loaded)?;
        let injections = Injections::default();
        let (stored_folds, ledger, hooks, is_torn) = (0, None, None, false);
        let mut stored =
            Self { store, row, meta, inner, stored_folds, ledger, injections, hooks, is_torn };
        let folds = match &stored.inner {
            // No fold is active, but there may be prepared ones, and others that were undone.
            LoadedParts::Whole(_) => stored.folds().await?,
            LoadedParts::Brief(_) => Vec::new(),
        };
        stored.note_queued().await?;
        if let LoadedParts::Whole(session) = &mut stored.inner {
            stored.stored_folds = folds.len();
            session.set_folds(folds, None);
            stored.offer_prepared();
        }
        Ok(stored)
    }

    /// Reads the session again from the store.
    ///
    /// # Errors
    /// Fails as [`StoredSession::open`] does.
    pub async fn reload(&mut self) -> Result<(), StoredError> {
        // If the store cannot be read now, the next use tries it again.
        self.is_torn = true;
        let opened = Self::open(self.store.clone(), &self.row.new.id).await?;
        // Both belong to this process and are not in the store. They are moved only now: a session that cannot be read
        // keeps them.
        let injections = std::mem::take(&mut self.injections);
        *self = opened.with_hooks(self.hooks.take());
        self.injections = injections;
        Ok(())
    }

    /// Loads the events that the active fold covers, and all folds, so that the whole session is in memory.
    pub(super) async fn hydrate(&mut self) -> Result<(), StoredError> {
        self.mend().await?;
        let LoadedParts::Brief(brief) = &self.inner else { return Ok(()) };
        // Not the state of the row: this one may have changes that are not saved yet.
        let state = brief.state();
        let id = self.row.new.id.clone();
        // Only up to the head in the row: its hash does not cover what others appended since.
        let events = self.store.events(&id, 0..self.row.head).await?;
        let folds = self.folds().await?;
        let log = rows::log(rows::reading(&self.row, &state.model)?, &self.meta, events);
        if log.head_hash() != self.row.head_hash {
            return Err(chain(&id));
        }
        let meter = state.meter.unwrap_or_else(|| Meter::first(&self.row.new.counter));
        self.stored_folds = folds.len();
        let session = Session::over(&id, log, rows::policy(&self.row)?, meter);
        let session =
            held_so(session, &self.meta).with_folds(folds, self.row.active).with_state(state);
        self.inner = LoadedParts::Whole(Box::new(session));
        self.hook();
        self.offer_prepared();
        Ok(())
    }

    /// All folds of the session, in the order in which they were stored.
    ///
    /// # Errors
    /// Fails where the store fails, or a fold's record cannot be read.
    pub async fn folds(&self) -> Result<Vec<Fold>, StoredError> {
        let rows = self.store.folds(&self.row.new.id).await?;
        rows.iter().map(|row| rows::fold(&self.row.new.id, row)).collect()
    }

    /// All folds of the session with their rows, in the order in which they were stored.
    ///
    /// # Errors
    /// Fails where the store fails, or a fold's record cannot be read.
    pub async fn fold_rows(&self) -> Result<Vec<(FoldRow, Fold)>, StoredError> {
        let rows = self.store.folds(&self.row.new.id).await?;
        let read = |row: FoldRow| {
            let fold = rows::fold(&self.row.new.id, &row)?;
            Ok((row, fold))
        };
        rows.into_iter().map(read).collect()
    }

    /// The folds through which the session's recorded requests were read.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn requests(&self) -> Result<RecordedRequests, StoredError> {
        Ok(self.store.requests(&self.row.new.id).await?.into_iter().collect())
    }

    /// For each of `folds`, whether it was in force, prepared, undone or superseded. `folds` has to be all folds of the
    /// session, in order.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn standings(&self, folds: &[Fold]) -> Result<Vec<FoldStanding>, StoredError> {
        Ok(standings(folds, self.row.active, &self.requests().await?))
    }

    /// Reads only what others have written since the last read.
    ///
    /// # Errors
    /// Fails as [`StoredSession::open`] does.
    pub async fn refresh(&mut self) -> Result<(), StoredError> {
        let row = self.store.session(&self.row.new.id).await?;
        if self.is_torn {
            return self.reload().await;
        }
        if row == self.row {
            return Ok(());
        }
        let grew = row.new == self.row.new && row.active == self.row.active;
        if let LoadedParts::Whole(session) = &mut self.inner
            && grew
            && row.head >= self.row.head
        {
            // If these events or the folds turn out not to match the row, `reload` below throws the changed session
            // away.
            let new = self.store.events(&row.new.id, self.row.head..row.head).await?;
            for event in new {
                session.append(event.event.raw());
            }
            // Until the row is known to be theirs, these events may not go on.
            self.is_torn = true;
            // A fold that was stored and not activated leaves the row as it is, so the number of folds is compared,
            // too.
            let known = session.folds().len() as u64;
            if session.log().head_hash() == row.head_hash
                && self.store.activity(&row.new.id).await?.folds == known
            {
                session.set_state(rows::state(&row)?);
                (self.row, self.ledger, self.is_torn) = (row, None, false);
                return Ok(());
            }
        }
        self.reload().await
    }

    /// Offers the fold that was prepared with the ready narration, so that every process takes the same one.
    fn offer_prepared(&mut self) {
        let LoadedParts::Whole(session) = &mut self.inner else { return };
        let Some(ready) = session.narration().accepted().map(|ready| ready.request) else {
            return;
        };
        let prepared = session.folds().iter().rev().find(|fold| {
            fold.cause == FoldCause::Prepared
                && fold.prev == self.row.active
                && fold.narrated.as_ref().is_some_and(|narrated| narrated.request == ready)
        });
        if let Some(fold) = prepared.cloned()
            && let Err(error) = session.offer(fold)
        {
            tracing::warn!(session = %self.row.new.id, %error, "a prepared fold does not apply");
        }
    }

    /// Creates a session of its own from the first `at` events (`None`: all events), with the folds that still apply.
    ///
    /// # Errors
    /// Fails where the id is taken, the session has fewer events, or the store fails.
    pub async fn fork(
        &mut self,
        id: &str,
        at: Option<u64>,
        now: Millis,
    ) -> Result<Self, StoredError> {
        let at = at.unwrap_or(self.row.head);
        if at > self.row.head {
            let session = self.row.new.id.clone();
            return Err(StoredError::NoEvent { session, seq: at, events: self.row.head });
        }
        let parent = Some((self.row.new.id.clone(), at));
        let meta = SessionMeta { parent, ..self.meta.clone() };
        let new = NewSession {
            id: id.to_owned(),
            meta: rows::json(&meta)?,
            created: now,
            ..self.row.new.clone()
        };
        let position = usize::try_from(at).unwrap_or(usize::MAX);
        let fork = self.whole().await?.fork(id, position);
        let changes = SavedParts::default().changes(&fork, now)?;
        self.store.commit(id, &SessionChanges { created: Some(new), ..changes }).await?;
        Ok(Self::open(self.store.clone(), id).await?.with_hooks(self.hooks.clone()))
    }
}

/// Makes a session from its loaded parts: a brief one where a fold is active, and otherwise the whole one.
fn assemble(meta: &SessionMeta, loaded: LoadedSession) -> Result<LoadedParts, StoredError> {
    let row = loaded.session;
    let mut state = rows::state(&row)?;
    let (reading, policy) = (rows::reading(&row, &state.model)?, rows::policy(&row)?);
    let id = row.new.id.clone();
    let Some(fold) = loaded.fold else {
        let log = rows::log(reading, meta, loaded.tail);
        if log.head_hash() != row.head_hash {
            return Err(chain(&id));
        }
        let session =
            held_so(Session::over(&id, log, policy, Meter::first(&row.new.counter)), meta)
                .with_state(state);
        return Ok(LoadedParts::Whole(Box::new(session)));
    };
    state.meter.get_or_insert_with(|| Meter::first(&row.new.counter));
    let fold = rows::fold(&id, &fold)?;
    let take = |rows: Vec<crate::types::EventRow>| rows.iter().map(|row| row.event.raw()).collect();
    let (head, kept, tail) = (take(loaded.head), take(loaded.kept), take(loaded.tail));
    let brief = BriefSession::new(
        &id,
        policy,
        reading,
        state,
        fold,
        head,
        kept,
        tail,
        row.turn,
        row.head_hash,
    )
    .map_err(|error| match error {
        BriefError::Chain => chain(&id),
        error @ BriefError::Kept { .. } => {
            StoreError::Damaged(format!("session `{id}`: {error}")).into()
        }
    })?;
    let parts = meta.envelope.iter().map(String::as_bytes);
    let brief = brief.with_envelope(parts);
    let brief = brief.with_cache_lifetime(meta.cache_lifetime);
    let brief = if meta.is_proxied() { brief.with_answers_behind() } else { brief };
    Ok(LoadedParts::Brief(Box::new(brief)))
}

/// A session with the rules of the client that sends it. For a client behind a proxy, a fold must suit that client,
/// whoever makes it.
fn held_so(mut session: Session, meta: &SessionMeta) -> Session {
    session.set_cache_lifetime(meta.cache_lifetime);
    if meta.is_proxied() { session.with_answers_behind().with_turns_kept() } else { session }
}

/// The error for events whose hashes do not lead to the hash in the row.
fn chain(id: &str) -> StoredError {
    StoreError::Damaged(format!(
        "the events of session `{id}` do not lead to its chain hash; `store fsck` says where"
    ))
    .into()
}
