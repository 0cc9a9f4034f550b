//! Compresses rows that are stored in columns.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use midfold_arrow::{BatchOptions, RowReport, RowStatus, compress_with};

use super::columns;
use super::files::InputFiles;
use super::job::TrajectoryJob;
use super::manifest::ChunkOutcome;
use crate::error::CommandError;

/// Compresses all rows of a chunk into the bytes of an output part.
pub fn rows(
    table: &columns::ColumnTable,
    job: &TrajectoryJob,
    inputs: &InputFiles,
    chunk: columns::ColumnChunk,
) -> Result<ChunkOutcome, CommandError> {
    let path = &inputs.files[chunk.from.file];
    let options = table.options(BatchOptions {
        settings: job.settings.clone(),
        ..BatchOptions::new(Arc::clone(&job.counter))
    });
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::failed(format!("{}: {error}", path.display()))
    };
    let pass = |line: &[u8]| job.summaries.compress(line, &job.settings, &*job.counter);
    let compressed =
        compress_with(&chunk.batch, &options, &pass).map_err(|error| failed(&error))?;
    // The rows before are as large as those made of them, and nothing reads them any more.
    drop(chunk.batch);
    let mut outcome = ChunkOutcome::default();
    let name = path.display().to_string();
    let mut mask = Vec::with_capacity(compressed.rows.len());
    for (at, report) in compressed.rows.iter().enumerate() {
        let place = ("row", chunk.from.line + at as u64 + 1);
        mask.push(row(job, &name, place, report, &mut outcome));
    }
    let batch = match mask.iter().all(|is_kept| *is_kept) {
        true => compressed.batch,
        false => filter_record_batch(&compressed.batch, &BooleanArray::from(mask))
            .map_err(|error| failed(&error))?,
    };
    // Files may differ in which columns are nullable. The output has one schema for all of them.
    let batch = RecordBatch::try_new(Arc::clone(&table.output), batch.columns().to_vec())
        .map_err(|error| failed(&error))?;
    outcome.output = table.part(&batch).map_err(|error| failed(&error))?;
    Ok(outcome)
}

/// Adds the report of a row to the outcome. Returns whether the row is written.
fn row(
    job: &TrajectoryJob,
    file: &str,
    place: (&str, u64),
    report: &RowReport,
    outcome: &mut ChunkOutcome,
) -> bool {
    match report {
        RowReport::Failed { code, reason } => {
            outcome.reject(file, place, code, reason);
            false
        }
        RowReport::Done { metrics, .. }
            if report.status() == RowStatus::OverLimit && !job.save_over_limit =>
        {
            outcome.over_limit(file, place, metrics.compressed_tokens);
            false
        }
        RowReport::Done { metrics, counted, .. } => {
            outcome.totals.add(metrics);
            outcome.counted += u64::from(*counted);
            true
        }
    }
}
