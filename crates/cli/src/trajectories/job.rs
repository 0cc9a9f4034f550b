//! The settings of a run of `midfold trajectories`.

use std::sync::Arc;

use midfold::Counter;
use midfold::formats::trajectory::TrajectorySettings;

use super::passes::{AskOutcome, SummarySource};
use super::publish::OutputFormat;
use super::transcripts::TranscriptRows;

/// The settings of a run.
pub struct TrajectoryJob {
    pub settings: TrajectorySettings,
    /// Whether rows that stay too long are written. If not, they are rejected.
    pub save_over_limit: bool,
    pub counter: Arc<dyn Counter>,
    pub workers: usize,
    /// The bytes that are read at once.
    pub chunk: usize,
    pub summaries: SummarySource,
    /// The outcome of asking a model for summaries. `None` where no model is asked.
    pub ask_outcome: Option<AskOutcome>,
    pub format: OutputFormat,
    /// How inputs that are no rows become rows.
    pub transcripts: TranscriptRows,
}
