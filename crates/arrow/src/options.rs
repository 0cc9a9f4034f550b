//! What is to be done with batches, and why one cannot be used.

use std::sync::Arc;

use arrow_schema::{ArrowError, DataType};
use midfold_core::Counter;
use midfold_formats::trajectory::{self, TrajectorySettings};

/// Names of the columns that are added, in order.
pub const COLUMNS: [&str; 4] = ["status", "tokens_before", "tokens_after", "fold"];

/// What is to be done with batches.
#[derive(Clone)]
pub struct BatchOptions {
    /// What is to be done with rows.
    pub settings: TrajectorySettings,
    /// How tokens are counted.
    pub counter: Arc<dyn Counter>,
    /// The column with the turns. `None`: `conversations`, `messages`, or a text column `line`,
    /// `row`, `json` or `text` with whole rows, whichever is there first.
    pub column: Option<String>,
    /// Prefix of the names of the columns that are added ([`COLUMNS`]).
    pub prefix: String,
}

impl BatchOptions {
    /// Default settings.
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

/// A batch that cannot be used at all. A row never is the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// There is no column of this name.
    #[error("there is no column `{0}`")]
    NoColumn(String),
    /// Nothing looks like rows.
    #[error("there is no column `conversations` or `messages`, and none with whole rows")]
    NoRows,
    /// The column holds neither text nor lists of turns.
    #[error("column `{name}` is {found}: neither text nor a list of structs with {wanted}")]
    BadColumn {
        /// Its name.
        name: String,
        /// Its type.
        found: DataType,
        /// Members of a turn.
        wanted: &'static str,
    },
    /// A column that is to be added is there already.
    #[error("there is a column `{0}` already: set a prefix for those that are added")]
    Taken(String),
    /// Arrow refused; a batch that is too large for the offsets of its columns, most likely.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// What is done with one row, as a line of JSON.
pub type RowPass<'a> = &'a dyn Fn(&[u8]) -> Result<trajectory::CompressedRow, trajectory::RowError>;
