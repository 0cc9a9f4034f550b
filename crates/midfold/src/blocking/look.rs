//! Questions to a session that do not change it: its status, its ledger, its records.

use midfold_core::audit::{Audit, audit};
use midfold_core::engine::{Session as Whole, SessionStatus};
use midfold_core::event::RawEvent;
use midfold_core::explain::{AskedMoment, Explanation, explain};
use midfold_core::fold::Fold;
use midfold_core::ledger::{CallRecord, ReportedCost};
use midfold_core::placeholder::PlaceholderCall;
use midfold_store::StoredError;

use super::{Session, SessionError, SessionInStore, SessionPlace, StorePlace};
use crate::cache::{CacheCheck, cache_check};
use crate::start::InMemory;
use crate::view::explained;

impl Session {
    /// Returns the session with all its events; a stored one is loaded first.
    pub(super) fn whole(&mut self) -> Result<&mut Whole, SessionError> {
        Ok(match &mut self.place {
            SessionPlace::Memory(memory) => &mut memory.session,
            SessionPlace::Stored(SessionInStore { stored, place }) => place.run(stored.whole())?,
        })
    }

    /// The bytes of an event; `None` for a stored session, which may not be loaded.
    pub(super) fn logged(&self, at: usize) -> Option<&[u8]> {
        match &self.place {
            SessionPlace::Memory(memory) => {
                memory.session.log().events().get(at).map(|event| &event.bytes[..])
            }
            SessionPlace::Stored(_) => None,
        }
    }

    /// Returns the session's status: its sizes, its window and its folds.
    ///
    /// # Errors
    /// If the store fails.
    pub fn status(&mut self) -> Result<SessionStatus, SessionError> {
        let now = self.now();
        Ok(match &mut self.place {
            SessionPlace::Memory(InMemory { session, budget, .. }) => session.status(budget, now),
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.status(now))?
            }
        })
    }

    /// Returns all folds, oldest first. Each lists the names it lost that came up again later.
    ///
    /// # Errors
    /// If the store fails.
    pub fn folds(&mut self) -> Result<Vec<Fold>, SessionError> {
        let whole = self.whole()?;
        let log = whole.log();
        Ok(whole.folds().iter().map(|fold| fold.with_references(log)).collect())
    }

    /// Returns the calls of the ledger with the cost that the provider reported; `None` where it reported none. A
    /// session in memory has no ledger, so its list is empty.
    ///
    /// # Errors
    /// If the store fails.
    pub fn ledger(&mut self) -> Result<Vec<(CallRecord, Option<ReportedCost>)>, SessionError> {
        match &mut self.place {
            SessionPlace::Memory(_) => Ok(Vec::new()),
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                Ok(place.run(stored.calls())?)
            }
        }
    }

    fn calls(&mut self) -> Result<Vec<CallRecord>, SessionError> {
        Ok(self.ledger()?.into_iter().map(|(call, _)| call).collect())
    }

    /// Checks every fold and every call against the log, and reports what each fold lost.
    ///
    /// # Errors
    /// If the store fails.
    pub fn audit(&mut self) -> Result<Audit, SessionError> {
        let calls = self.calls()?;
        let whole = self.whole()?;
        let active = whole.active().map(|fold| fold.id);
        Ok(audit(whole.log(), whole.folds(), active, &calls))
    }

    /// The calls of a new message of the model in which texts that a fold printed stand where content was meant. Ask
    /// before they are run, with the messages as they will be appended.
    ///
    /// # Errors
    /// If the store fails.
    pub fn placeholders(
        &mut self,
        messages: &[RawEvent],
    ) -> Result<Vec<PlaceholderCall>, SessionError> {
        let whole = self.whole()?;
        Ok(messages.iter().flat_map(|message| whole.placeholders(&message.bytes)).collect())
    }

    /// Explains where a text is in what the model sees now, or saw at the call with this number.
    ///
    /// # Errors
    /// If the text or the call does not exist, or if the store fails.
    pub fn explain(&mut self, text: &str, call: Option<u64>) -> Result<Explanation, SessionError> {
        // A stored session may be a client's or a proxy's, and its answer is that of every other door.
        if let SessionPlace::Stored(SessionInStore { stored, place }) = &mut self.place {
            return Ok(place.run(explained(stored, text, call))?);
        }
        let calls = self.calls()?;
        let whole = self.whole()?;
        let now = AskedMoment::Now(whole.active().map(|fold| fold.id));
        let moment = call.map_or(now, AskedMoment::Call);
        Ok(explain(whole.log(), whole.folds(), &calls, text, moment)?)
    }

    /// Explains where the message with this number is, as [`explain`](Self::explain) does for a text.
    ///
    /// # Errors
    /// If there is no such message or call, or if the store fails.
    pub fn explain_event(
        &mut self,
        seq: u64,
        call: Option<u64>,
    ) -> Result<Explanation, SessionError> {
        let events = self.len() as u64;
        if seq >= events {
            let session = self.id().to_owned();
            return Err(StoredError::NoEvent { session, seq, events }.into());
        }
        self.explain(&format!("@{seq}"), call)
    }

    /// Measures how many tokens the provider's cache can read again on the next turn. `None` as for [`cache_check`].
    ///
    /// # Errors
    /// If a context cannot be planned, or if the store fails.
    pub fn cache_check(&mut self) -> Result<Option<CacheCheck>, SessionError> {
        let budget = match &mut self.place {
            SessionPlace::Memory(InMemory { budget, .. }) => budget.clone(),
            SessionPlace::Stored(SessionInStore { stored, .. }) => stored.budget(),
        };
        let whole = self.whole()?;
        let budget = whole.gate().budget(&budget, whole.policy());
        Ok(cache_check(whole.log(), whole.policy(), &budget, *whole.meter())?)
    }

    /// Returns a store that recall can read. A session in memory is put into a new memory store; the two share the
    /// messages' bytes, so that costs about as much as the search.
    ///
    /// # Errors
    /// If that store cannot be made.
    pub fn readable(&mut self) -> Result<StorePlace, SessionError> {
        let now = self.now();
        match &self.place {
            SessionPlace::Stored(in_store) => Ok(in_store.place.clone()),
            SessionPlace::Memory(memory) => StorePlace::of_memory(memory, now),
        }
    }

    /// Answers a call of one of the recall tools. Mistakes in the call are explained in the answer, which is always
    /// plain text.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub fn recall(&mut self, name: &str, arguments: &str) -> Result<String, SessionError> {
        let (place, id) = (self.readable()?, self.id());
        Ok(place.block_on(|store| midfold_store::recall::dispatch(store, id, name, arguments)))
    }
}
