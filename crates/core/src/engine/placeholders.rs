//! Finds placeholders in the calls of a new message.

use super::Session;
use crate::placeholder::{OriginalTexts, PlaceholderCall, PrintedMarks};
use crate::tools::ToolTable;
use crate::view::BlockKind;

impl Session {
    /// The calls of a message of the model in which the texts of the fold in use stand where content was meant: `… [300
    /// more characters]` as the end of a file. Ask before the calls are run, with the message as it will be appended.
    /// Empty without a fold.
    #[must_use]
    pub fn placeholders(&self, message: &[u8]) -> Vec<PlaceholderCall> {
        let dialect = &**self.log.dialect();
        let Some(fold) = self.active() else { return Vec::new() };
        let marks = PrintedMarks::of(fold, dialect);
        let tools = ToolTable::of(&self.policy.tools);
        let originals = || {
            let mut texts = OriginalTexts::default();
            for event in self.log.events() {
                texts.add(&event.view, &event.bytes, marks.is_before(event.seq as usize));
            }
            texts
        };
        let mut calls = Vec::new();
        for block in &dialect.view(message).blocks {
            let BlockKind::Call { id, name } = block.kind else { continue };
            let tool = name.map_or_else(String::new, |name| name.decode(message).into_owned());
            let copied = marks.copied(&tool, &block.text(message), &tools, originals);
            let Some(first) = copied.first() else { continue };
            let id = id.map(|id| id.decode(message).into_owned());
            let reason = first.reason();
            calls.push(PlaceholderCall { id, tool, reason, placeholders: copied });
        }
        calls
    }
}
