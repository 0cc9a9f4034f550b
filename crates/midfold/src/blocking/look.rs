//! Questions to a session that do not change it: its status, its ledger, its records.

use midfold_core::audit::{Audit, audit};
use midfold_core::engine::{Session as Whole, SessionStatus};
use midfold_core::explain::{AskedMoment, Explanation, explain};
use midfold_core::fold::Fold;
use midfold_core::ledger::{CallRecord, ReportedCost};

use super::{Session, SessionError, SessionInStore, SessionPlace, StorePlace};
use crate::cache::{CacheCheck, cache_check};
use crate::start::InMemory;

impl Session {
    /// The whole session, loaded where it was not.
    pub(super) fn whole(&mut self) -> Result<&mut Whole, SessionError> {
        Ok(match &mut self.held {
            SessionPlace::Memory(memory) => &mut memory.session,
            SessionPlace::Stored(SessionInStore { stored, place }) => place.run(stored.whole())?,
        })
    }

    /// An event, where it is in memory.
    pub(super) fn logged(&self, at: usize) -> Option<&[u8]> {
        match &self.held {
            SessionPlace::Memory(memory) => {
                memory.session.log().events().get(at).map(|event| &event.bytes[..])
            }
            SessionPlace::Stored(_) => None,
        }
    }

    /// What it is at.
    ///
    /// # Errors
    /// When the store fails; so do all of these.
    pub fn status(&mut self) -> Result<SessionStatus, SessionError> {
        let now = self.now();
        Ok(match &mut self.held {
            SessionPlace::Memory(InMemory { session, budget, .. }) => session.status(budget, now),
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.status(now))?
            }
        })
    }

    /// All folds, oldest first, with what was used again since.
    ///
    /// # Errors
    /// When the store fails.
    pub fn folds(&mut self) -> Result<Vec<Fold>, SessionError> {
        let whole = self.whole()?;
        let log = whole.log();
        Ok(whole.folds().iter().map(|fold| fold.with_references(log)).collect())
    }

    /// The calls of the ledger, with what the provider counted. A session in memory has none.
    ///
    /// # Errors
    /// When the store fails.
    pub fn ledger(&mut self) -> Result<Vec<(CallRecord, Option<ReportedCost>)>, SessionError> {
        match &mut self.held {
            SessionPlace::Memory(_) => Ok(Vec::new()),
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                Ok(place.run(stored.calls())?)
            }
        }
    }

    fn calls(&mut self) -> Result<Vec<CallRecord>, SessionError> {
        Ok(self.ledger()?.into_iter().map(|(call, _)| call).collect())
    }

    /// Every record held against the log, and what each fold lost.
    ///
    /// # Errors
    /// When the store fails.
    pub fn audit(&mut self) -> Result<Audit, SessionError> {
        let calls = self.calls()?;
        let whole = self.whole()?;
        let active = whole.active().map(|fold| fold.id);
        Ok(audit(whole.log(), whole.folds(), active, &calls))
    }

    /// What the model sees of a text, or saw at a call.
    ///
    /// # Errors
    /// When there is no such message or call, or the store fails.
    pub fn explain(&mut self, text: &str, call: Option<u64>) -> Result<Explanation, SessionError> {
        let calls = self.calls()?;
        let whole = self.whole()?;
        let now = AskedMoment::Now(whole.active().map(|fold| fold.id));
        let moment = call.map_or(now, AskedMoment::Call);
        Ok(explain(whole.log(), whole.folds(), &calls, text, moment)?)
    }

    /// What the provider's cache can read again on the next turn.
    ///
    /// # Errors
    /// When nothing that fits can be made, or the store fails.
    pub fn cache_check(&mut self) -> Result<Option<CacheCheck>, SessionError> {
        let budget = match &mut self.held {
            SessionPlace::Memory(InMemory { budget, .. }) => budget.clone(),
            SessionPlace::Stored(SessionInStore { stored, .. }) => stored.budget(),
        };
        let whole = self.whole()?;
        let budget = whole.gate().budget(&budget, whole.policy());
        Ok(cache_check(whole.log(), whole.policy(), &budget, *whole.meter())?)
    }

    /// A store that recall can read, and what drives it. For a session in memory one is made: its
    /// bytes are shared, so that costs about as much as the search.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn readable(&mut self) -> Result<StorePlace, SessionError> {
        let now = self.now();
        match &self.held {
            SessionPlace::Stored(kept) => Ok(kept.place.clone()),
            SessionPlace::Memory(memory) => StorePlace::of_memory(memory, now),
        }
    }

    /// Answers a call of one of the tools of recall: plain text, always.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn recall(&mut self, name: &str, arguments: &str) -> Result<String, SessionError> {
        let (place, id) = (self.readable()?, self.id());
        Ok(place.block_on(|store| midfold_store::recall::dispatch(store, id, name, arguments)))
    }
}
