//! Changes to a session: its model, its policy, its pins.

use midfold_core::plan::{PlanError, runs_here};
use midfold_core::policy::Policy;
use midfold_formats::profile;
use midfold_tokens as tokens;

use super::{Session, SessionError, SessionInStore, SessionPlace};
use crate::failure::Failure;
use crate::start::InMemory;

impl Session {
    /// Sets the model. The window becomes `window` if it is given, else the known window of the model; for an unknown
    /// model it stays.
    ///
    /// # Errors
    /// If the reserves leave nothing of the window, or if the store fails.
    pub fn update_model(&mut self, model: &str, window: Option<u64>) -> Result<(), SessionError> {
        let window = window.or_else(|| tokens::window_of(model));
        match &mut self.place {
            SessionPlace::Memory(InMemory { session, budget, new, .. }) => {
                // The window is set first: if it is refused, the session keeps its model as well.
                if let Some(window) = window {
                    session.set_window(window, budget).map_err(PlanError::from)?;
                }
                session.update_model(model);
                // The profile says whether the model binds its reasoning, so it follows the model.
                if let Some(profile) = profile::by_name(&new.profile) {
                    session.set_profile(profile::for_model(*profile, model));
                }
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.update_model(model, window))?;
            }
        }
        Ok(())
    }

    /// Sets the policy, which holds from the next fold on.
    ///
    /// # Errors
    /// If the policy's reserves leave nothing of the window, if its engine cannot run in a session, or if the store
    /// fails.
    pub fn set_policy(&mut self, policy: Policy) -> Result<(), SessionError> {
        runs_here(&policy)?;
        match &mut self.place {
            SessionPlace::Memory(InMemory { session, budget, new, .. }) => {
                let written = policy.to_toml();
                session.set_policy(policy, budget).map_err(PlanError::from)?;
                // Recall reads the policy of `new` for its tables of tools.
                new.policy = written;
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.set_policy(&policy))?
            }
        }
        Ok(())
    }

    /// Pins an event, so that no later fold takes it; `pinned: false` removes the pin.
    ///
    /// # Errors
    /// If there is no event `seq`, or if the store fails.
    pub fn pin(&mut self, seq: u64, pinned: bool) -> Result<(), SessionError> {
        match &mut self.place {
            SessionPlace::Memory(memory) => {
                let events = memory.session.log().len();
                let number = u32::try_from(seq).ok().filter(|number| (*number as usize) < events);
                let Some(number) = number else {
                    let text = format!("there is no event {seq}");
                    return Err(Failure::new(crate::FailureArea::Input, text)
                        .hint(format!("there are {events}, counted from 0"))
                        .into());
                };
                if pinned {
                    memory.session.pin(number);
                } else {
                    memory.session.unpin(number);
                }
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.pin(seq, pinned))?
            }
        }
        Ok(())
    }
}
