//! What a compaction came to.

use midfold::{Context, Fold, NoOp, Outcome, Prepared};

use crate::note::Note;

/// One conversation, compacted or left as it was.
pub struct Done {
    pub prepared: Prepared,
    pub outcome: Outcome,
    pub context: Context,
    /// What the reader and the conversion could not carry.
    pub notes: Vec<Note>,
    /// `--target`, where the result is above it.
    pub missed: Option<u64>,
}

impl Done {
    pub fn fold(&self) -> Option<&Fold> {
        match &self.outcome {
            Outcome::Folded(fold) => Some(fold),
            Outcome::Nothing(_) => None,
        }
    }

    pub fn noop(&self) -> Option<NoOp> {
        match &self.outcome {
            Outcome::Folded(_) => None,
            Outcome::Nothing(reason) => Some(*reason),
        }
    }
}
