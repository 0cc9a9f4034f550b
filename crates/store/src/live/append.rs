//! Appends messages to a session in a store, and keeps memory and store the same where that fails.

use midfold_core::RawEvent;

use super::{LoadedParts, StoredError, StoredSession};
use crate::changes::SessionChanges;
use crate::error::StoreError;
use crate::types::{AppendOutcome, AppendRequest, Millis, NewEvent};

impl StoredSession {
    /// Appends messages, all or none, behind the current head. They are durable when this returns. With a key, a
    /// retry gets the first answer. Where the buffer line is crossed, a narration job is queued in the same
    /// transaction.
    ///
    /// # Errors
    /// Fails where the store fails. Where others append at the same time, this append is tried again.
    pub async fn append(
        &mut self,
        events: Vec<RawEvent>,
        key: Option<String>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        self.append_behind(None, events, key, now).await
    }

    /// Appends messages only where the session has exactly `expected` events. A retry with the same `key` gets the first
    /// answer, whatever it expects.
    ///
    /// # Errors
    /// Fails with [`StoreError::Conflict`] where it has another number, with [`StoreError::KeyReused`] where the key
    /// belongs to other messages, and where the store fails.
    pub async fn append_at(
        &mut self,
        expected: u64,
        events: Vec<RawEvent>,
        key: Option<String>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        if self.row.head < expected {
            self.reload().await?;
        }
        // Only the store knows the keys; it refuses another head itself.
        if self.row.head != expected && key.is_none() {
            return Err(StoreError::Conflict { expected, actual: self.row.head }.into());
        }
        self.append_behind(Some(expected), events, key, now).await
    }

    /// Appends behind `place` events; with `None`, behind the head, wherever that is.
    async fn append_behind(
        &mut self,
        place: Option<u64>,
        events: Vec<RawEvent>,
        key: Option<String>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        let mut asks = true;
        loop {
            self.mend().await?;
            if self.narration().is_overdue(now) {
                // An overdue narration may be finished; that has to be known before it is queued again.
                self.learn(now).await?;
            }
            let (head, version) = (self.row.head, self.row.state_version);
            let expected = place.unwrap_or(head);
            let changes = match self.pushed(expected, events.clone(), key.clone(), asks, now).await
            {
                Ok(changes) => changes,
                Err(error) => return Err(self.torn(error).await),
            };
            match self.commit(&changes).await {
                Ok(outcome) => {
                    let count = events.len() as u64;
                    let here = AppendOutcome { first: expected, count, repeated: false };
                    return Ok(outcome.appended.unwrap_or(here));
                }
                // Tried again only where the session is another one now, because otherwise it would end the same.
                Err(StoredError::Store(StoreError::Conflict { .. }))
                    if place.is_none() && self.row.head > head => {}
                Err(StoredError::Store(StoreError::StaleState { .. }))
                    if self.row.state_version > version => {}
                Err(StoredError::Store(StoreError::OtherJob)) if asks => asks = false,
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds events in memory, and returns the changes to commit. Where the buffer line is crossed, a narration job is
    /// one of them.
    async fn pushed(
        &mut self,
        expected: u64,
        events: Vec<RawEvent>,
        key: Option<String>,
        asks: bool,
        now: Millis,
    ) -> Result<SessionChanges, StoredError> {
        let events = events.into_iter().filter_map(|event| self.push(event)).collect();
        let append = AppendRequest { expected, key, events, now };
        let job = if asks { self.ask(now).await? } else { None };
        // An append alone leaves the state as it is, and should cost no look at it.
        let state = if job.is_some() { self.state_change()? } else { None };
        Ok(SessionChanges { appended: Some(append), job, state, ..SessionChanges::default() })
    }

    /// Adds an event in memory, and returns the row to store.
    fn push(&mut self, event: RawEvent) -> Option<NewEvent> {
        match &mut self.inner {
            LoadedParts::Brief(brief) => {
                brief.append(event);
                brief.last().map(NewEvent::of)
            }
            LoadedParts::Whole(session) => {
                session.append(event);
                session.log().events().last().map(NewEvent::of)
            }
        }
    }
}
