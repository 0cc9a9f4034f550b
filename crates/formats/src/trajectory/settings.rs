//! How rows are compressed.

use midfold_core::trajectory::TrajectoryLimits;

use super::trainer::Trainer;

/// The settings for the compression of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrajectorySettings {
    /// The number of tokens that a row has to fit, and the turns that stay.
    pub limits: TrajectoryLimits,
    /// A text that is added to the system turns of a row that gets a summary.
    pub notice: Option<String>,
    /// Whether such a row gets a member `compression_metrics`.
    pub row_metrics: bool,
    /// A trainer whose rules every row has to follow. `None` checks no rules.
    pub trainer: Option<Trainer>,
    /// Whether turns that a trainer takes at no end of a row are cut off first: see [`super::trimmed`].
    pub trim_turns: bool,
    /// Whether every row is counted, even one that is too short to exceed the limit.
    pub count_all: bool,
    /// The names of further lists with one element per turn, beside [`super::ALIGNED`].
    pub aligned: Vec<String>,
}
