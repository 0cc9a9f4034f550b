//! The names of midfold's own tools. A model calls them, and no client knows them.

use midfold_core::exchanges::{COMPACT_TOOL, NOTE_TOOL, PIN_TOOL};
use midfold_core::log::RECALL_TOOL;

/// A tool of midfold's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTool {
    /// Reads folded events again.
    Recall,
    /// Asks for a fold of the older messages.
    Compact,
    /// Pins a message, so that no fold takes it.
    Pin,
    /// Keeps a line of text in each recap.
    Note,
}

impl OwnTool {
    /// All of midfold's own tools.
    pub const ALL: [Self; 4] = [Self::Recall, Self::Compact, Self::Pin, Self::Note];

    /// The name by which the model calls the tool.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall => RECALL_TOOL,
            Self::Compact => COMPACT_TOOL,
            Self::Pin => PIN_TOOL,
            Self::Note => NOTE_TOOL,
        }
    }

    /// The tool of this name. `None` where the name is of no own tool.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}
