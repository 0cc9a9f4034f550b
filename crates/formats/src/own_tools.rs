//! Tools of midfold's own that a model calls and no client knows: their names.

use midfold_core::log::RECALL_TOOL;

/// One of the tools of midfold's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTool {
    /// Brings back what was folded.
    Recall,
    /// Asks for a fold.
    Compact,
    /// Keeps a message whole.
    Pin,
    /// Keeps a line in each recap.
    Note,
}

impl OwnTool {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Recall, Self::Compact, Self::Pin, Self::Note];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall => RECALL_TOOL,
            Self::Compact => "midfold_compact",
            Self::Pin => "midfold_pin",
            Self::Note => "midfold_note",
        }
    }

    /// The tool of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}
