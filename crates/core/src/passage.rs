//! Whose words are in a message of the user's role. One rule for all who ask: the head and the
//! tail, the recap and its rules, what a summariser is shown, the measures of a replay.

use crate::dialect::Dialect;
use crate::event::Event;
use crate::view::BlockKind;

pub use crate::voice::{Passage, Voice};

/// The passages of an event of the user's role, in order.
#[must_use]
pub fn passages(event: &Event, dialect: &dyn Dialect) -> Vec<Passage> {
    let blocks = event.view.blocks.iter().filter(|block| block.kind == BlockKind::Text);
    let texts: Vec<_> = blocks.map(|block| block.text(&event.bytes)).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    dialect.passages(&texts)
}

/// The passages that are `wanted`, a line break between two.
#[must_use]
pub fn joined(passages: &[Passage], wanted: impl Fn(&Passage) -> bool) -> String {
    let wanted = passages.iter().filter(|passage| wanted(passage));
    wanted.map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n")
}
