//! Instructions of the application to the model, beside the words of the user.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::event::Event;
use crate::passage::{Passage, passages};
use crate::repair::OF_SYSTEM;
use crate::view::{Role, TextOrigin};

/// The text of an event by which the application or another agent instructs the model; `None` where it holds no
/// instruction.
///
/// Such an event is a system message, whatever wrapper its text begins with, or the user message that a repair made of
/// one, or a message of another speaker in the user's role.
pub(crate) fn instruction<'a>(event: &'a Event, dialect: &dyn Dialect) -> Option<Cow<'a, str>> {
    let view = &event.view;
    let is_instruction = match view.role {
        Role::System | Role::Developer => view.origin != TextOrigin::Recap,
        Role::User if view.origin == TextOrigin::Injected => {
            event.text().starts_with(OF_SYSTEM) || other_speaker(event, dialect).is_some()
        }
        _ => false,
    };
    is_instruction.then(|| event.text()).filter(|text| !text.trim().is_empty())
}

/// The name of another speaker than the user who says something in the user's role: another agent, a bot of the
/// application. The log tells such messages from the user's.
pub(crate) fn other_speaker(event: &Event, dialect: &dyn Dialect) -> Option<String> {
    let is_others = event.view.role == Role::User && event.view.origin == TextOrigin::Injected;
    let name = is_others.then(|| dialect.speaker(&event.bytes)).flatten()?;
    passages(event, dialect).iter().any(Passage::is_said).then_some(name)
}
