//! What a run is told.

use std::sync::Arc;

use midfold::Counter;
use midfold::formats::trajectory::Settings;

use super::passes::{Asked, Summaries};
use super::publish::Format;

/// Everything that a run is told.
pub struct Job {
    pub settings: Settings,
    /// Rows that do not fit after all are written; if not, rejected.
    pub save_over_limit: bool,
    pub counter: Arc<dyn Counter>,
    pub workers: usize,
    /// Bytes that are read at once.
    pub chunk: usize,
    pub summaries: Summaries,
    /// What asking a model for them came to.
    pub asked: Option<Asked>,
    pub format: Format,
}
