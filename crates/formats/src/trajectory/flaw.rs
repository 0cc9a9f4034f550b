//! Why a trainer would not take a row.

/// Why a trainer would not take a row as it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail} (turn {turn})")]
pub struct RowFlaw {
    /// A short name, for records: `alternation`, `last-turn`, `empty-content`, `unpaired-call`,
    /// `orphan-result`, `tags`, `misaligned`, `no-turns`.
    pub code: &'static str,
    /// The turn, from 0.
    pub turn: usize,
    /// In words.
    pub detail: &'static str,
}

pub(super) fn flaw(code: &'static str, turn: usize, detail: &'static str) -> Result<(), RowFlaw> {
    Err(RowFlaw { code, turn, detail })
}
