//! Whose words a message in the user's role holds. All parts of midfold use this one rule: head and tail, the recap,
//! the summariser's sources, the measures of a replay.

use crate::dialect::Dialect;
use crate::event::Event;
use crate::view::BlockKind;

pub use crate::voice::{ClientReminder, Passage, Voice};

/// The passages of an event in the user's role, in order.
#[must_use]
pub fn passages(event: &Event, dialect: &dyn Dialect) -> Vec<Passage> {
    let blocks = event.view.blocks.iter().filter(|block| block.kind == BlockKind::Text);
    let texts: Vec<_> = blocks.map(|block| block.text(&event.bytes)).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    dialect.client_words().passages(&texts)
}

/// The texts of the passages for which `wanted` is true, separated by line breaks.
#[must_use]
pub fn joined(passages: &[Passage], wanted: impl Fn(&Passage) -> bool) -> String {
    let wanted = passages.iter().filter(|passage| wanted(passage));
    wanted.map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n")
}
