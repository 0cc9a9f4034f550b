//! What is asked of a session without changing it: its ledger, and what the records say.

use midfold::core::audit::{Audit, audit};
use midfold::core::explain::{Explanation, Moment, explain};
use midfold::core::ledger::{CallRecord, Settled};
use midfold::{CacheCheck, InMemory, Session, cache_check};

use super::{Engine, Kept};
use crate::errors::Failure;

impl Engine {
    /// The whole session, loaded where it was not.
    pub(super) fn whole(&mut self) -> Result<&mut Session, Failure> {
        Ok(match self {
            Self::Memory(memory) => &mut memory.session,
            Self::Stored(Kept { stored, place }) => place.runtime.block_on(stored.whole())?,
        })
    }

    /// The calls of the ledger, with what the provider counted. A session in memory has none.
    pub fn ledger(&mut self) -> Result<Vec<(CallRecord, Option<Settled>)>, Failure> {
        match self {
            Self::Memory(_) => Ok(Vec::new()),
            Self::Stored(Kept { stored, place }) => Ok(place.runtime.block_on(stored.calls())?),
        }
    }

    fn calls(&mut self) -> Result<Vec<CallRecord>, Failure> {
        Ok(self.ledger()?.into_iter().map(|(call, _)| call).collect())
    }

    /// Every record held against the log, and what each fold lost.
    pub fn audit(&mut self) -> Result<Audit, Failure> {
        let calls = self.calls()?;
        let whole = self.whole()?;
        Ok(audit(whole.log(), whole.folds(), &calls))
    }

    /// What the model sees of a text, or saw at a call.
    pub fn explain(&mut self, text: &str, call: Option<u64>) -> Result<Explanation, Failure> {
        let calls = self.calls()?;
        let whole = self.whole()?;
        let now = Moment::Now(whole.active().map(|fold| fold.id));
        let moment = call.map_or(now, Moment::Call);
        Ok(explain(whole.log(), whole.folds(), &calls, text, moment)?)
    }

    /// What the provider's cache can read again on the next turn.
    pub fn cache_check(&mut self) -> Result<Option<CacheCheck>, Failure> {
        let budget = match self {
            Self::Memory(InMemory { budget, .. }) => budget.clone(),
            Self::Stored(Kept { stored, .. }) => stored.budget(),
        };
        let whole = self.whole()?;
        let budget = whole.gate().budget(&budget, whole.policy());
        Ok(cache_check(whole.log(), whole.policy(), &budget, *whole.meter())?)
    }
}
