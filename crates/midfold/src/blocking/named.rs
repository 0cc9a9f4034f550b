//! Settings that a caller names hold for a session that is found in a store, too.

use midfold_core::policy::Policy;

use super::{Session, SessionError, SessionInStore, SessionPlace};

/// What a caller named. `None` leaves a session that is in a store as it is.
#[derive(Clone, Debug, Default)]
pub struct NamedSettings {
    /// The window, in tokens.
    pub window: Option<u64>,
    /// The model's name.
    pub model: Option<String>,
    /// The policy.
    pub policy: Option<Policy>,
}

impl Session {
    /// The session with these settings, from the next fold on. What it has already stays: a smaller window that was
    /// learned from a refusal is not raised by naming the window again that was named before.
    ///
    /// # Errors
    /// If nothing of the window is left, if the policy's engine cannot run in a session, or if the store fails.
    pub fn with_named(mut self, named: &NamedSettings) -> Result<Self, SessionError> {
        let SessionPlace::Stored(SessionInStore { stored, .. }) = &self.place else {
            return Ok(self);
        };
        let (window, model) = (stored.named_window(), stored.model());
        let policy =
            named.policy.as_ref().map(|policy| Ok::<_, SessionError>((policy, stored.policy()?)));
        let policy = policy.transpose()?;
        let other_model = named.model.as_deref().filter(|named| *named != model);
        let other_window = named.window.filter(|named| *named != window);
        match (other_model, other_window) {
            (Some(other), _) => self.update_model(other, named.window)?,
            (None, Some(other)) => self.update_model(&model, Some(other))?,
            (None, None) => {}
        }
        if let Some((named, _)) =
            policy.filter(|(named, current)| named.to_toml() != current.to_toml())
        {
            self.set_policy(named.clone())?;
        }
        Ok(self)
    }
}
