//! Counts.

use serde::Serialize;

/// How much was kept of what was looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundShare {
    /// Kept.
    pub kept: u64,
    /// Looked for.
    pub of: u64,
}

impl FoundShare {
    /// Counts one.
    pub fn add(&mut self, kept: bool) {
        self.kept += u64::from(kept);
        self.of += 1;
    }

    /// Counts what another counted.
    pub fn join(&mut self, other: Self) {
        self.kept += other.kept;
        self.of += other.of;
    }

    /// The share; nothing where nothing was looked for.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.of > 0).then(|| self.kept as f64 / self.of as f64)
    }
}

/// Something that was not kept.
#[derive(Clone, Debug, Serialize)]
pub struct MissedItem {
    /// Which one.
    pub what: String,
    /// Its text, or what went wrong.
    pub why: String,
}
