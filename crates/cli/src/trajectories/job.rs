//! What a run is told.

use std::sync::Arc;

use midfold::Counter;
use midfold::formats::trajectory::TrajectorySettings;

use super::passes::{AskOutcome, SummarySource};
use super::publish::OutputFormat;

/// Everything that a run is told.
pub struct TrajectoryJob {
    pub settings: TrajectorySettings,
    /// Rows that do not fit after all are written; if not, rejected.
    pub save_over_limit: bool,
    pub counter: Arc<dyn Counter>,
    pub workers: usize,
    /// Bytes that are read at once.
    pub chunk: usize,
    pub summaries: SummarySource,
    /// What asking a model for them came to.
    pub asked: Option<AskOutcome>,
    pub format: OutputFormat,
}
