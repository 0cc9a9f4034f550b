//! Taking turns: the order of roles that strict providers require.

use crate::profile::ProviderProfile;
use crate::view::{EventView, Role};

/// The speaker of the last turn. Calls and results do not count as turns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastTurn {
    visible: Option<Role>,
    after_result: bool,
}

impl LastTurn {
    /// Whether a user message follows a result directly.
    pub fn is_result_before(&self, view: &EventView) -> bool {
        self.after_result && is_user(view)
    }

    /// Whether the next speaker is the last one, too.
    pub fn is_same_before(&self, view: &EventView) -> bool {
        let again = self.visible == Some(view.role);
        again && (is_user(view) || view.role == Role::Assistant && !self.after_result)
    }

    /// Takes in the next message.
    pub fn note(&mut self, view: &EventView) {
        self.after_result = view.has_results();
        if is_user(view) || view.role == Role::Assistant && !view.has_calls() {
            self.visible = Some(view.role);
        }
    }
}

fn is_user(view: &EventView) -> bool {
    view.role == Role::User && !view.has_results()
}

/// Whether user and assistant take turns in these messages, and no user message follows a result directly. False for
/// formats of items, which have no turns.
pub(crate) fn takes_turns<'a>(
    views: impl IntoIterator<Item = &'a EventView>,
    profile: &ProviderProfile,
) -> bool {
    let mut last = LastTurn::default();
    !profile.has_items
        && views.into_iter().all(|view| {
            let breaks = last.is_result_before(view) || last.is_same_before(view);
            last.note(view);
            !breaks
        })
}
