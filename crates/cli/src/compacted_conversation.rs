//! The result of a compaction, as the command keeps it.

use midfold::view::CompactionReport;
use midfold::{CompactionOutcome, Fold, NoRecap, PreparedConversation};

/// One conversation, compacted or left as it was.
pub struct CompactedConversation {
    pub prepared: PreparedConversation,
    pub outcome: CompactionOutcome,
    /// What the compaction did, as every door shows it.
    pub report: CompactionReport,
}

impl CompactedConversation {
    pub fn fold(&self) -> Option<&Fold> {
        self.outcome.fold()
    }

    /// The text that the model reads in the place of the folded messages, or why there is none.
    pub fn recap(&self) -> Result<&str, NoRecap> {
        midfold::recap(&self.outcome.outcome)
    }
}
