//! The settings for batches, and the reasons why a batch cannot be used.

use std::sync::Arc;

use arrow_schema::{ArrowError, DataType};
use midfold_core::Counter;
use midfold_formats::trajectory::{self, TrajectorySettings};

/// The names of the columns that are added, in order.
pub const COLUMNS: [&str; 4] = ["status", "tokens_before", "tokens_after", "fold"];

/// The settings for batches.
#[derive(Clone)]
pub struct BatchOptions {
    /// The settings for rows.
    pub settings: TrajectorySettings,
    /// The counter of tokens.
    pub counter: Arc<dyn Counter>,
    /// The column with the turns. `None` takes the first that exists of `conversations`, `messages`, and a text column
    /// `line`, `row`, `json` or `text` with whole rows.
    pub column: Option<String>,
    /// The prefix of the names of the columns that are added ([`COLUMNS`]).
    pub prefix: String,
}

impl BatchOptions {
    /// Settings with the defaults and this counter.
    #[must_use]
    pub fn new(counter: Arc<dyn Counter>) -> Self {
        Self {
            settings: TrajectorySettings::default(),
            counter,
            column: None,
            prefix: String::new(),
        }
    }
}

/// The reason why a batch cannot be used at all. A single row is never the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// There is no column of this name.
    #[error("there is no column `{0}`")]
    NoColumn(String),
    /// No column can hold rows.
    #[error("there is no column `conversations` or `messages`, and none with whole rows")]
    NoRows,
    /// The column holds neither text nor lists of turns.
    #[error("column `{name}` is {found}: neither text nor a list of structs with {wanted}")]
    BadColumn {
        /// The name of the column.
        name: String,
        /// The type of the column.
        found: DataType,
        /// The members that a turn needs.
        wanted: &'static str,
    },
    /// The batch already has a column with the name of one that is to be added.
    #[error("there is a column `{0}` already: set a prefix for those that are added")]
    Taken(String),
    /// Arrow refused, most likely because the batch is too large for the offsets of its columns.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Compresses one row, given as a line of JSON.
pub type RowPass<'a> = &'a dyn Fn(&[u8]) -> Result<trajectory::CompressedRow, trajectory::RowError>;
