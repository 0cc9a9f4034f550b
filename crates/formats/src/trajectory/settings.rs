//! What is to be done with rows.

use midfold_core::trajectory::TrajectoryLimits;

use super::trainer::Trainer;

/// What is to be done with rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrajectorySettings {
    /// What a row has to fit, and what stays.
    pub limits: TrajectoryLimits,
    /// Text that is added to the system turns of a row that gets a summary.
    pub notice: Option<String>,
    /// Put `compression_metrics` into such a row.
    pub row_metrics: bool,
    /// Every row has to be one that this trainer takes as it is meant.
    pub trainer: Option<Trainer>,
    /// Count every row, also those that cannot be too long.
    pub count_all: bool,
    /// Lists with one element a turn, beside [`super::ALIGNED`].
    pub aligned: Vec<String>,
}
