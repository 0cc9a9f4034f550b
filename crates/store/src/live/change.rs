//! Changes that a host makes to a stored session: pins, model, window, policy. They are saved in the session's
//! state, so that every node sees them.

use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::plan::{PlanError, runs_here};
use midfold_core::policy::Policy;

use super::{ROUNDS, StoredError, StoredSession};

impl StoredSession {
    /// Pins an event with its unit, so that no later fold takes it, or unpins it.
    ///
    /// # Errors
    /// Fails where there is no such event, or the store fails.
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

    /// Sets what the client wants kept in every recap: see [`Session::heed`]. `None` removes the wish.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn heed(&mut self, instruction: Option<&str>) -> Result<(), StoredError> {
        if instruction == self.narration().standing.as_deref() {
            return Ok(());
        }
        self.change(|session| {
            session.heed(instruction);
            Ok(())
        })
        .await
    }

    /// Runs a change that an agent asked for in its own conversation: a fold, a pin or a note. `work` runs again
    /// where another node changed the session in the meantime.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn carry_out<T>(
        &mut self,
        work: impl Fn(&mut Session, &Budget) -> T,
    ) -> Result<T, StoredError> {
        let budget = self.budget();
        self.change(|session| Ok(work(session, &budget))).await
    }

    /// Changes the session's state, and tries again where another node changed it at the same time.
    async fn change<T>(
        &mut self,
        work: impl Fn(&mut Session) -> Result<T, StoredError>,
    ) -> Result<T, StoredError> {
        for _ in 0..ROUNDS {
            let outcome = work(self.whole().await?)?;
            match self.commit(&self.changes(0)?).await {
                Ok(_) => return Ok(outcome),
                Err(StoredError::Store(error)) if error.is_stale() => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// Sets the model, and the window where one is given.
    ///
    /// # Errors
    /// Fails where the window has no room for a context, or the store fails.
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
        // The new model may accept other messages, so the session is read again under its rules.
        self.reload().await
    }

    /// Sets the policy for all nodes, from the next fold on. The status names the new policy; each fold's record
    /// keeps the fingerprint of the policy that it was made with.
    ///
    /// # Errors
    /// Fails where the window has no room for a context, where sessions cannot run the policy's engine, or where the
    /// store fails.
    pub async fn set_policy(&mut self, policy: &Policy) -> Result<(), StoredError> {
        runs_here(policy)?;
        let budget = self.budget();
        self.change(|session| {
            Ok(session.set_policy(policy.clone(), &budget).map_err(PlanError::from)?)
        })
        .await
    }
}
