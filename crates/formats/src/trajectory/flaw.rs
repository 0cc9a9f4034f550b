//! Why a trainer would refuse a row.

/// The reason why a trainer would refuse a row, or would not read it as it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail} (turn {turn})")]
pub struct RowFlaw {
    /// A short name for programs: `alternation`, `first-turn`, `last-turn`, `empty-content`, `unpaired-call`, `orphan-result`,
    /// `tags`, `misaligned`, `no-turns`.
    pub code: &'static str,
    /// The index of the turn, from 0.
    pub turn: usize,
    /// The reason, for people.
    pub detail: String,
}

pub(super) fn flaw(
    code: &'static str,
    turn: usize,
    detail: impl Into<String>,
) -> Result<(), RowFlaw> {
    Err(RowFlaw { code, turn, detail: detail.into() })
}
