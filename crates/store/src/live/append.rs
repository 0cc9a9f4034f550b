//! Appends messages to a session in a store, and keeps memory and store the same where that fails.

use midfold_core::RawEvent;

use super::{LoadedParts, StoredError, StoredSession};
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
        loop {
            let expected = self.row.head;
            match self.append_behind(expected, events.clone(), key.clone(), now).await {
                // A conflict is retried only where the head has grown, because otherwise a retry changes nothing.
                Err(StoredError::Store(StoreError::Conflict { .. }))
                    if self.row.head > expected => {}
                other => return other,
            }
        }
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
        self.append_behind(expected, events, key, now).await
    }

    /// Appends behind `expected` events, which is the head that this node knows, unless a key may be known.
    async fn append_behind(
        &mut self,
        expected: u64,
        events: Vec<RawEvent>,
        key: Option<String>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        self.mend().await?;
        if self.narration().is_overdue(now) {
            // An overdue narration may be finished; that has to be known before it is queued again.
            self.learn(now).await?;
        }
        let new: Vec<_> = events.into_iter().filter_map(|event| self.push(event)).collect();
        let wanted = match self.wanted_narration(now).await {
            Ok(wanted) => wanted,
            Err(error) => return Err(self.torn(error).await),
        };
        let job = match wanted.as_ref().map(|wanted| self.job(wanted, now)).transpose() {
            Ok(job) => job,
            Err(error) => return Err(self.torn(error).await),
        };
        let (count, head_hash) = (new.len() as u64, self.head_hash());
        let append = AppendRequest { expected, key, events: new, job, now };
        let appended = match self.store.append(&self.row.new.id, append).await {
            Ok(appended) if !appended.repeated => appended,
            other => {
                // The events pushed above are only in memory, and the store has others.
                self.reload().await?;
                return Ok(other?);
            }
        };
        self.row.head += count;
        self.row.head_hash = head_hash;
        self.row.turn = self.turn();
        if let Some(wanted) = wanted
            && let Err(error) = self.note_asked(wanted).await
        {
            // The events are durable, as the caller asked. The job is noted when the session is used next.
            tracing::warn!(session = %self.row.new.id, %error, "a queued span is not noted yet");
            // Whether the note was written is not known. Reading the session again, now or at the next conflict, shows
            // it.
            let _ = self.reload().await;
        }
        Ok(appended)
    }

    /// Drops the events that were pushed for an append which failed with `error`.
    async fn torn(&mut self, error: StoredError) -> StoredError {
        let _ = self.reload().await;
        error
    }

    /// Reads the session again, if it has events or changes that the store may not have.
    pub(super) async fn mend(&mut self) -> Result<(), StoredError> {
        if self.is_torn { self.reload().await } else { Ok(()) }
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
