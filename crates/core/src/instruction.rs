//! Instructions of the application to the model, beside the words of the user.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::event::Event;
use crate::passage::{Voice, passages};
use crate::repair::OF_SYSTEM;
use crate::view::{Role, TextOrigin};

/// The text of an event by which the application instructs the model; `None` where it holds no instruction.
///
/// Such an event is a system message, or the user message that a repair made of one, or a user message with a speaker's
/// name where the user has none (`has_names`). Text that a client is known to write by itself is no instruction.
pub(crate) fn instruction<'a>(
    event: &'a Event,
    dialect: &dyn Dialect,
    has_names: bool,
) -> Option<Cow<'a, str>> {
    let view = &event.view;
    let told = match view.role {
        Role::System | Role::Developer => {
            view.origin != TextOrigin::Recap && !is_clients(event, dialect)
        }
        Role::User if view.origin == TextOrigin::Injected => {
            return Some(event.text()).filter(|text| text.starts_with(OF_SYSTEM));
        }
        Role::User => has_names && view.is_real_user() && dialect.speaker(&event.bytes).is_some(),
        _ => false,
    };
    told.then(|| event.text()).filter(|text| !text.trim().is_empty())
}

/// Whether all passages of a message are text that a client writes by itself.
fn is_clients(event: &Event, dialect: &dyn Dialect) -> bool {
    let passages = passages(event, dialect);
    !passages.is_empty() && passages.iter().all(|passage| passage.voice == Voice::Client)
}
