//! Queueing spans to narrate, with the append that crossed the line.

use midfold_core::engine::Wanted;

use super::{Inner, Stored, StoredError, rows};
use crate::types::{Millis, NewJob};

impl Stored {
    /// The span that should be narrated now.
    pub(super) async fn wanted(&mut self, now: Millis) -> Result<Option<Wanted>, StoredError> {
        let budget = self.budget();
        if let Inner::Brief(brief) = &self.inner {
            if !brief.may_want(&budget, now) {
                return Ok(None);
            }
            // What was pushed and is not stored yet is in the brief alone.
            let new = brief.events_from(self.row.head);
            self.hydrate().await?;
            if let Inner::Whole(session) = &mut self.inner {
                new.into_iter().for_each(|event| {
                    session.append(event);
                });
            }
        }
        match &self.inner {
            Inner::Whole(session) => Ok(session.wanted(&budget, now)),
            Inner::Brief(_) => Ok(None),
        }
    }

    pub(super) fn job(&self, wanted: &Wanted, now: Millis) -> Result<NewJob, StoredError> {
        Ok(NewJob {
            key: wanted.id.to_hex(),
            session: self.row.new.id.clone(),
            start: wanted.span.start.into(),
            end: wanted.span.end.into(),
            through: wanted.span.through,
            body: rows::json(wanted)?,
            run_at: now,
        })
    }

    pub(super) async fn note_asked(&mut self, wanted: Wanted) -> Result<(), StoredError> {
        self.whole().await?.asked(wanted);
        self.save().await
    }
}
