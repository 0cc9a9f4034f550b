//! Shares of kept items.

use serde::Serialize;

/// How many of the items that were looked for were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundShare {
    /// The number of kept items.
    pub kept: u64,
    /// The number of items that were looked for.
    pub of: u64,
}

impl FoundShare {
    /// Counts one item.
    pub fn add(&mut self, is_kept: bool) {
        self.kept += u64::from(is_kept);
        self.of += 1;
    }

    /// Adds the counts of another share.
    pub fn join(&mut self, other: Self) {
        self.kept += other.kept;
        self.of += other.of;
    }

    /// The share. `None` where no item was looked for.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.of > 0).then(|| self.kept as f64 / self.of as f64)
    }
}

/// An item that was not kept.
#[derive(Clone, Debug, Serialize)]
pub struct MissedItem {
    /// The name of the item.
    pub what: String,
    /// The text that should have been kept, or the error that prevented the check.
    pub why: String,
}
