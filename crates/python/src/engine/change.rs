//! What is changed on a live session.

use midfold::formats::profile;
use midfold::{InMemory, PlanError, Policy, tokens};

use super::{Engine, Kept};
use crate::errors::Failure;

impl Engine {
    /// The model changed, and with it the window: the one given, else the model's own where it is
    /// known, else it stays.
    pub fn update_model(&mut self, model: &str, window: Option<u64>) -> Result<(), Failure> {
        let window = window.or_else(|| tokens::window_of(model));
        match self {
            Self::Memory(InMemory { session, budget, new }) => {
                if let Some(window) = window {
                    session.set_window(window, budget).map_err(PlanError::from)?;
                }
                session.update_model(model);
                if let Some(profile) = profile::by_name(&new.profile) {
                    session.set_profile(profile::for_model(*profile, model));
                }
            }
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.update_model(model, window))?;
            }
        }
        Ok(())
    }

    /// The policy changed: it holds from the next fold on.
    pub fn set_policy(&mut self, policy: Policy) -> Result<(), Failure> {
        match self {
            Self::Memory(InMemory { session, budget, new }) => {
                let written = policy.to_toml();
                session.set_policy(policy, budget).map_err(PlanError::from)?;
                // Recall knows the tools that it names.
                new.policy = written;
            }
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.set_policy(&policy))?;
            }
        }
        Ok(())
    }
}
