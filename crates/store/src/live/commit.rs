//! Commits what changed in a stored session, and keeps memory and store the same where that fails.

use super::{LoadedParts, StoredError, StoredSession, rows};
use crate::changes::{ActiveChange, CommitOutcome, SessionChanges, StateChange};
use crate::error::StoreError;
use crate::types::{Millis, NewFold};

impl StoredSession {
    /// The changes of folds and state since the session was read or committed. Events are added by `append` alone.
    pub(super) fn changes(&self, now: Millis) -> Result<SessionChanges, StoredError> {
        let new = match &self.inner {
            LoadedParts::Brief(_) => &[],
            LoadedParts::Whole(session) => {
                &session.folds()[self.stored_folds.min(session.folds().len())..]
            }
        };
        let (before, after) = (self.row.active, self.active());
        Ok(SessionChanges {
            folds: new.iter().map(|fold| NewFold::of(fold, now)).collect::<Result<_, _>>()?,
            active: (before != after).then_some(ActiveChange { before, after }),
            state: self.state_change()?,
            ..SessionChanges::default()
        })
    }

    /// The state, where it is not the one in the store.
    pub(super) fn state_change(&self) -> Result<Option<StateChange>, StoredError> {
        let (state, version) = (rows::json(&self.state())?, self.row.state_version);
        Ok((state != self.row.state).then_some(StateChange { version, state }))
    }

    /// Commits changes. Where that fails, or the events were stored before, the session is read again, because memory
    /// has changes that the store does not have.
    pub(super) async fn commit(
        &mut self,
        changes: &SessionChanges,
    ) -> Result<CommitOutcome, StoredError> {
        if changes.is_empty() {
            return Ok(CommitOutcome::default());
        }
        self.is_torn = true;
        match self.store.commit(&self.row.new.id, changes).await {
            Ok(outcome) if outcome.is_repeated() => self.reload().await.map(|()| outcome),
            Ok(outcome) => {
                self.note(changes);
                self.is_torn = false;
                Ok(outcome)
            }
            Err(error) => Err(self.torn(error.into()).await),
        }
    }

    /// Commits the state. Fails where another node committed another one first; then the session is read again.
    pub(crate) async fn keep(&mut self) -> Result<(), StoredError> {
        let state = self.state_change()?;
        self.commit(&SessionChanges { state, ..SessionChanges::default() }).await.map(drop)
    }

    /// Commits changes, and returns false where somebody else changed the session first; then it is read again, and the
    /// work has to be done again. A state alone yields: the other one's stays, and nothing has to be done again.
    pub(super) async fn commit_or_yield(
        &mut self,
        changes: &SessionChanges,
    ) -> Result<bool, StoredError> {
        match self.commit(changes).await {
            Err(StoredError::Store(StoreError::StaleState { .. })) => Ok(changes.is_state_alone()),
            Err(StoredError::Store(error)) if error.is_stale() => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Notes in memory that these changes are in the store.
    fn note(&mut self, changes: &SessionChanges) {
        if let Some(append) = &changes.appended
            && let Some(last) = append.events.last()
        {
            self.row.head += append.events.len() as u64;
            self.row.head_hash = last.hash;
            self.row.turn = last.turn;
        }
        self.stored_folds += changes.folds.len();
        if let Some(active) = changes.active {
            self.row.active = active.after;
            for fold in &changes.folds {
                let session = &self.row.new.id;
                tracing::info!(session = %session, fold = %fold.id.to_hex(), "folded");
            }
        }
        if let Some(change) = &changes.state {
            self.row.state.clone_from(&change.state);
            self.row.state_version = change.version + 1;
        }
    }

    /// Drops what is in memory only, after something failed with `error`.
    pub(super) async fn torn(&mut self, error: StoredError) -> StoredError {
        // Where the store cannot be read now either, the next use reads it.
        let _ = self.reload().await;
        error
    }

    /// Reads the session again, if it has events or changes that the store may not have.
    pub(super) async fn mend(&mut self) -> Result<(), StoredError> {
        if self.is_torn { self.reload().await } else { Ok(()) }
    }
}
