//! Arrow for midfold: compresses the trajectories in batches.
//!
//! [`compress_batch`] is a pure function over a `RecordBatch`, for engines that have their own scheduler: it keeps the
//! rows and their order, and uses one thread. A batch has its rows in one of three forms:
//!
//! - a text column `conversations` or `messages` with the list of turns as JSON,
//! - a list of structs of that name (`from`, `value`; or `role`, `content`, …),
//! - a text column with the whole row as JSON.
//!
//! A row without a summary keeps its bytes, and other columns keep their buffers. Four new columns say what happened to
//! each row. A row that cannot be used is no error: it stays as it is, and the columns have the reason.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::cast::AsArray;
//! use arrow_array::{ArrayRef, RecordBatch, StringArray};
//! use midfold_arrow::{BatchOptions, compress_batch};
//! use midfold_formats::trajectory::Bytes4; // four bytes a token
//!
//! let turn = |from: &str, text: &str| format!(r#"{{"from":"{from}","value":"{text}"}}"#);
//! let mut turns = vec![turn("human", "Fix src/a.rs")];
//! for n in 0..40 {
//!     turns.push(turn("gpt", &format!("Looking at part {n} of src/a.rs")));
//!     turns.push(turn("tool", &"one more line of output ".repeat(20)));
//! }
//! turns.push(turn("gpt", "Done."));
//! let rows = StringArray::from(vec![format!("[{}]", turns.join(",")), "[]".into(), "[".into()]);
//! let batch = RecordBatch::try_from_iter([("conversations", Arc::new(rows) as ArrayRef)])?;
//!
//! let mut options = BatchOptions::new(Arc::new(Bytes4));
//! options.settings.limits.target = 4_000;
//! let done = compress_batch(&batch, &options)?;
//! let status = done.column_by_name("status").unwrap().as_string::<i32>();
//! assert_eq!(status.iter().flatten().collect::<Vec<_>>(), ["compressed", "skipped", "error"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod aligned;
mod columns;
mod json;
mod options;
mod rebuild;
mod report;
mod row;
mod source;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use midfold_formats::trajectory;

use row::RowChange;
use source::BatchRows;

pub use options::{BatchError, BatchOptions, COLUMNS, RowPass};
pub use report::{RowReport, RowStatus};

/// A batch, with a report for each of its rows.
#[derive(Debug)]
pub struct CompressedBatch {
    /// The same rows, with the columns [`COLUMNS`] after the others.
    pub batch: RecordBatch,
    /// One report per row.
    pub rows: Vec<RowReport>,
}

/// Compresses all rows of a batch.
///
/// # Errors
/// [`BatchError`]: there is no column with rows, or a new column has a name that exists already.
pub fn compress_batch(
    batch: &RecordBatch,
    options: &BatchOptions,
) -> Result<RecordBatch, BatchError> {
    compress(batch, options).map(|outcome| outcome.batch)
}

/// Compresses all rows of a batch, and returns the metrics of each row.
///
/// # Errors
/// [`BatchError`]: there is no column with rows, or a new column has a name that exists already.
pub fn compress(
    batch: &RecordBatch,
    options: &BatchOptions,
) -> Result<CompressedBatch, BatchError> {
    compress_with(batch, options, &|line| {
        trajectory::compress(line, &options.settings, &*options.counter)
    })
}

/// Compresses all rows of a batch with another pass over the rows, for summaries that a model wrote.
///
/// # Errors
/// [`BatchError`]: there is no column with rows, or a new column has a name that exists already.
pub fn compress_with(
    batch: &RecordBatch,
    options: &BatchOptions,
    pass: RowPass<'_>,
) -> Result<CompressedBatch, BatchError> {
    // A name that is taken is found before any row is compressed.
    let schema = output_schema(batch.schema_ref(), options)?;
    let source = BatchRows::of(batch, options)?;
    let mut rows = Vec::with_capacity(batch.num_rows());
    let mut changes: Vec<(usize, RowChange)> = Vec::new();
    let mut line = Vec::new();
    for at in 0..batch.num_rows() {
        let form = source.line(at, &mut line);
        let (report, change) = row::compress(&line, form, &source, pass);
        changes.extend(change.map(|change| (at, change)));
        rows.push(report);
    }
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    // Without a change, all columns keep their buffers.
    if !changes.is_empty() {
        columns[source.index] = rebuild::column(&columns[source.index], &source, &changes)?;
        aligned::columns(batch, &mut columns, &changes, &rows, &options.settings.aligned)?;
    }
    columns.extend(report::columns(&rows));
    Ok(CompressedBatch { batch: RecordBatch::try_new(schema, columns)?, rows })
}

/// The schema of the result for a batch with this schema: the same fields, and then [`COLUMNS`].
///
/// # Errors
/// [`BatchError`]: there is no column with rows, or a new column has a name that exists already.
pub fn output_schema(schema: &Schema, options: &BatchOptions) -> Result<SchemaRef, BatchError> {
    source::find(schema, options.column.as_deref())?;
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    for field in report::fields(&options.prefix) {
        if schema.column_with_name(field.name()).is_some() {
            return Err(BatchError::Taken(field.name().clone()));
        }
        fields.push(Arc::new(field));
    }
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}
