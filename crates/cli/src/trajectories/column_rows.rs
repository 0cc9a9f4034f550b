//! Rows that lie in columns, made to fit.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use midfold_arrow::{Options, Report, Status, compress_with};

use super::columns;
use super::files::Inputs;
use super::job::Job;
use super::manifest::Done;
use crate::error::CommandError;

/// All rows of a chunk, as they are written.
pub fn rows(
    table: &columns::Table,
    job: &Job,
    inputs: &Inputs,
    chunk: columns::Chunk,
) -> Result<Done, CommandError> {
    let path = &inputs.files[chunk.from.file];
    let options = table.options(Options {
        settings: job.settings.clone(),
        ..Options::new(Arc::clone(&job.counter))
    });
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::failed(format!("{}: {error}", path.display()))
    };
    let pass = |line: &[u8]| job.summaries.compress(line, &job.settings, &*job.counter);
    let compressed =
        compress_with(&chunk.batch, &options, &pass).map_err(|error| failed(&error))?;
    drop(chunk.batch);
    let mut done = Done::default();
    let name = path.display().to_string();
    let mut kept = Vec::with_capacity(compressed.rows.len());
    for (at, report) in compressed.rows.iter().enumerate() {
        let place = ("row", chunk.from.line + at as u64 + 1);
        kept.push(row(job, &name, place, report, &mut done));
    }
    let batch = match kept.iter().all(|kept| *kept) {
        true => compressed.batch,
        false => filter_record_batch(&compressed.batch, &BooleanArray::from(kept))
            .map_err(|error| failed(&error))?,
    };
    // What the reader called nullable in one file only is the same for all of them.
    let batch = RecordBatch::try_new(Arc::clone(&table.output), batch.columns().to_vec())
        .map_err(|error| failed(&error))?;
    done.output = table.part(&batch).map_err(|error| failed(&error))?;
    Ok(done)
}

/// Takes in what was done with a row; whether it is written.
fn row(job: &Job, file: &str, place: (&str, u64), report: &Report, done: &mut Done) -> bool {
    match report {
        Report::Failed { code, reason } => {
            done.reject(file, place, code, reason);
            false
        }
        Report::Done { metrics, .. }
            if report.status() == Status::OverLimit && !job.save_over_limit =>
        {
            done.over_limit(file, place, metrics.compressed_tokens);
            false
        }
        Report::Done { metrics, counted, .. } => {
            done.totals.add(metrics);
            done.counted += u64::from(*counted);
            true
        }
    }
}
