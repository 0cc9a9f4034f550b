//! What a compaction came to.

use midfold::{Compacted, Fold, NoOp, NoRecap, Outcome, Prepared};

use crate::note::Note;

/// One conversation, compacted or left as it was.
pub struct Done {
    pub prepared: Prepared,
    pub made: Compacted,
    /// What the reader and the conversion could not carry.
    pub notes: Vec<Note>,
}

impl Done {
    pub fn fold(&self) -> Option<&Fold> {
        self.made.fold()
    }

    pub fn noop(&self) -> Option<NoOp> {
        match &self.made.outcome {
            Outcome::Folded(_) => None,
            Outcome::Nothing(reason) => Some(*reason),
        }
    }

    /// The text that the model reads where folded messages were.
    pub fn recap(&self) -> Result<&str, NoRecap> {
        midfold::recap(&self.made.outcome)
    }
}
