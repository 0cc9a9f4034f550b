//! Who speaks in the user's role, in formats whose messages carry a speaker's name.

use crate::dialect::Dialect;
use crate::view::{EventView, Role};

/// The names of the speakers so far. They depend on the messages before alone, so that a log that grows is read as
/// one that is whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpeakerNames {
    /// The user's name; the outer value is `None` before the user's first message.
    user: Option<Option<String>>,
    /// Whether the assistant's messages carry a name: then the other names are those of agents.
    has_agents: bool,
}

impl SpeakerNames {
    /// Takes in the next message, and says whether another one than the user speaks in the user's role. That is so where
    /// the user has no name and the message has one, or where agents have names and this one is not the user's.
    pub(crate) fn is_other(
        &mut self,
        dialect: &dyn Dialect,
        view: &EventView,
        bytes: &[u8],
    ) -> bool {
        let user_has_name = matches!(self.user, Some(Some(_)));
        if view.role == Role::Assistant && user_has_name && !self.has_agents {
            self.has_agents = dialect.speaker(bytes).is_some();
        }
        if !view.is_real_user() {
            return false;
        }
        let name = dialect.speaker(bytes);
        match (&self.user, &name) {
            (Some(None), Some(_)) => true,
            (Some(Some(user)), Some(name)) => self.has_agents && user != name,
            // Who has no name is the user, whoever spoke before.
            (None, _) | (Some(_), None) => {
                self.user = Some(name);
                false
            }
        }
    }
}
