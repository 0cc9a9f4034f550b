//! What the application tells the model beside the user.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::event::Event;
use crate::passage::{Voice, passages};
use crate::repair::OF_SYSTEM;
use crate::view::{Role, TextOrigin};

/// What an event tells the model for the application: a system message, as itself or as a repair told it
/// where there may be none, or one under a name of its own (`has_names`: the user has none). What a
/// client is known to write by itself is none.
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

/// Whether all of a message is what a client is known to write by itself.
fn is_clients(event: &Event, dialect: &dyn Dialect) -> bool {
    let passages = passages(event, dialect);
    !passages.is_empty() && passages.iter().all(|passage| passage.voice == Voice::Client)
}
