//! What a host changes on a stored session: pins, model, window, policy. It is kept with the session's
//! state, so that every node has it.

use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::plan::{PlanError, runs_here};
use midfold_core::policy::Policy;

use super::{ROUNDS, StoredError, StoredSession};
use crate::error::StoreError;

impl StoredSession {
    /// Keeps an event, with its unit, out of every later fold; or lets it go again.
    ///
    /// # Errors
    /// When there is no such event, or the store fails.
    pub async fn pin(&mut self, seq: u64, pinned: bool) -> Result<(), StoredError> {
        let missing = || StoredError::NoEvent {
            session: self.row.new.id.clone(),
            seq,
            events: self.row.head,
        };
        let number = u32::try_from(seq).ok().filter(|_| seq < self.row.head).ok_or_else(missing)?;
        let work = |session: &mut Session| {
            if pinned {
                session.pin(number);
            } else {
                session.unpin(number);
            }
            Ok(())
        };
        self.change(work).await
    }

    /// What the client wants kept of whatever is folded: see [`Session::heed`].
    ///
    /// # Errors
    /// When the store fails.
    pub async fn heed(&mut self, wish: Option<&str>) -> Result<(), StoredError> {
        if wish == self.narration().standing.as_deref() {
            return Ok(());
        }
        self.change(|session| {
            session.heed(wish);
            Ok(())
        })
        .await
    }

    /// Does what an agent says of its own conversation: a fold, a pin, a note. `work` is done again where somebody else
    /// changed the session meanwhile.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn wish<T>(
        &mut self,
        work: impl Fn(&mut Session, &Budget) -> T,
    ) -> Result<T, StoredError> {
        let budget = self.budget();
        self.change(|session| Ok(work(session, &budget))).await
    }

    /// Changes what is neither log nor fold, whoever else does so at the same time.
    async fn change<T>(
        &mut self,
        work: impl Fn(&mut Session) -> Result<T, StoredError>,
    ) -> Result<T, StoredError> {
        for _ in 0..ROUNDS {
            let done = work(self.whole().await?)?;
            match self.try_save().await {
                Err(StoredError::Store(StoreError::StaleState { .. })) => self.reload().await?,
                other => return other.map(|()| done),
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// The model changed, and with it the window, where one is given.
    ///
    /// # Errors
    /// When nothing of the window is left for a context, or the store fails.
    pub async fn update_model(
        &mut self,
        model: &str,
        window: Option<u64>,
    ) -> Result<(), StoredError> {
        let budget = self.budget();
        self.change(|session| {
            if let Some(window) = window {
                session.set_window(window, &budget).map_err(PlanError::from)?;
            }
            session.update_model(model);
            Ok(())
        })
        .await?;
        // The model's own rules of what is valid hold from now on.
        self.reload().await
    }

    /// The policy changed: it holds from the next fold on, for every node. The status names it, and
    /// each record of a fold has the fingerprint of its own.
    ///
    /// # Errors
    /// When nothing of the window is left for a context, no session can run its engine, or the store
    /// fails.
    pub async fn set_policy(&mut self, policy: &Policy) -> Result<(), StoredError> {
        runs_here(policy)?;
        let budget = self.budget();
        self.change(|session| {
            Ok(session.set_policy(policy.clone(), &budget).map_err(PlanError::from)?)
        })
        .await
    }
}
