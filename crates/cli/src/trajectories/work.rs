//! Compresses rows on all cores: one thread reads, some compress, and the calling thread writes in order. A chunk takes
//! a permit before it is read and returns it when it is written, which bounds the memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::files::{InputFiles, OutputPaths, unreadable, unwritable};
use super::job::TrajectoryJob;
use super::lines::{self, LineChunks, LinePosition};
use super::manifest::{ChunkOutcome, RowSink, RunManifest};
use super::packed;
use super::publish::OutputFormat;
use super::report::TrajectoryProgress;
use super::transcripts::LONGEST;
#[cfg(feature = "parquet")]
use super::{column_rows, columns};
use crate::error::CommandError;

/// The most chunks in work for each worker.
const AHEAD: usize = 2;

type ReadResult = Result<WorkChunk, (PathBuf, io::Error)>;

/// A chunk of rows.
enum WorkChunk {
    Lines(lines::LineChunk),
    #[cfg(feature = "parquet")]
    Rows(columns::ColumnChunk),
}

/// Compresses and writes all rows. The returned manifest records that; the files still have their temporary names.
pub fn work(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    paths: &OutputPaths,
    mut sink: RowSink,
    quiet: bool,
) -> Result<RunManifest, CommandError> {
    if sink.manifest().is_finished() {
        return sink.close(paths);
    }
    let mut progress = TrajectoryProgress::new(quiet, inputs, sink.manifest());
    let from = sink.manifest().position;
    let written = threads(job, inputs, from, |results, permits| {
        write(&mut sink, paths, results, permits, &mut progress)
    });
    progress.end();
    written?;
    sink.close(paths)
}

/// Goes over the rows from a position on, and writes nothing.
pub fn look(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    from: LinePosition,
) -> Result<(), CommandError> {
    threads(job, inputs, from, |results, permits| {
        for (_, _, outcome) in results {
            outcome?;
            give_back(permits);
        }
        Ok(())
    })
}

/// Returns the permit of a chunk. It was taken before the chunk was read, so there always is one.
fn give_back(permits: &Receiver<()>) {
    let _ = permits.try_recv();
}

type ChunkResults = Receiver<(u64, LinePosition, Result<ChunkOutcome, CommandError>)>;

/// Starts the threads that read and compress. `take` receives the results.
fn threads(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    from: LinePosition,
    take: impl FnOnce(&ChunkResults, &Receiver<()>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let (permit, permits) = sync_channel::<()>(job.workers * AHEAD + 1);
    let (task, tasks) = channel::<(u64, ReadResult)>();
    let (result, results) = channel::<(u64, LinePosition, Result<ChunkOutcome, CommandError>)>();
    let tasks = Mutex::new(tasks);
    std::thread::scope(|scope| {
        scope.spawn(move || reader(job, inputs, from, &permit, &task));
        for _ in 0..job.workers {
            let result = result.clone();
            let tasks = &tasks;
            scope.spawn(move || worker(job, inputs, tasks, &result));
        }
        // The workers have senders of their own. Without this one the results end when the last worker does.
        drop(result);
        let outcome = take(&results, &permits);
        // This closes the channels, so that threads that still read or compress stop.
        drop((results, permits));
        outcome
    })
}

fn reader(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    from: LinePosition,
    permit: &SyncSender<()>,
    task: &Sender<(u64, ReadResult)>,
) {
    match &job.format {
        OutputFormat::Lines | OutputFormat::Packed => {
            let mut chunks = LineChunks::new(&inputs.files, &job.transcripts, from, job.chunk);
            hand_out(permit, task, || Ok(chunks.next_chunk()?.map(WorkChunk::Lines)));
        }
        #[cfg(feature = "parquet")]
        OutputFormat::Parquet(_) => {
            let mut chunks = columns::ColumnChunks::new(&inputs.files, from, job.chunk);
            hand_out(permit, task, || Ok(chunks.next_chunk()?.map(WorkChunk::Rows)));
        }
    }
}

/// Reads chunks until none are left, or nobody takes them any more.
fn hand_out(
    permit: &SyncSender<()>,
    task: &Sender<(u64, ReadResult)>,
    mut next: impl FnMut() -> Result<Option<WorkChunk>, (PathBuf, io::Error)>,
) {
    for seq in 0.. {
        // The permit comes before the reading, so that no more chunks are in memory than there are permits.
        if permit.send(()).is_err() {
            return;
        }
        let read = match next() {
            Ok(None) => return,
            Ok(Some(chunk)) => Ok(chunk),
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if task.send((seq, read)).is_err() || failed {
            return;
        }
    }
}

fn worker(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    tasks: &Mutex<Receiver<(u64, ReadResult)>>,
    result: &Sender<(u64, LinePosition, Result<ChunkOutcome, CommandError>)>,
) {
    loop {
        // The lock is released at the end of this line, so that other workers go on while this one compresses.
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((seq, chunk)) = next else { return };
        let (to, outcome) = match chunk {
            Ok(WorkChunk::Lines(chunk)) => (chunk.to, lines_of(job, inputs, &chunk)),
            #[cfg(feature = "parquet")]
            Ok(WorkChunk::Rows(chunk)) => (chunk.to, rows_of(job, inputs, chunk)),
            Err((path, error)) => (LinePosition::default(), Err(unreadable(&path, &error))),
        };
        if result.send((seq, to, outcome)).is_err() {
            return;
        }
    }
}

fn write(
    sink: &mut RowSink,
    paths: &OutputPaths,
    results: &ChunkResults,
    permits: &Receiver<()>,
    progress: &mut TrajectoryProgress,
) -> Result<(), CommandError> {
    // Chunks end in any order. The manifest names one position, so all rows before it have to be written.
    let mut waiting = BTreeMap::new();
    let mut wanted = 0;
    for (seq, to, outcome) in results {
        waiting.insert(seq, (to, outcome));
        // Chunks are done in any order, and written in that of the input. A permit goes back only after the write,
        // because a chunk that waits for an earlier one takes memory, too.
        while let Some((to, outcome)) = waiting.remove(&wanted) {
            sink.take(&outcome?, to, paths)?;
            progress.show(sink.manifest());
            give_back(permits);
            wanted += 1;
        }
    }
    Ok(())
}

#[cfg(feature = "parquet")]
fn rows_of(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    chunk: columns::ColumnChunk,
) -> Result<ChunkOutcome, CommandError> {
    let OutputFormat::Parquet(table) = &job.format else { return Ok(ChunkOutcome::default()) };
    column_rows::rows(table, job, inputs, chunk)
}

/// Compresses all rows of a chunk into the bytes that are written.
fn lines_of(
    job: &TrajectoryJob,
    inputs: &InputFiles,
    chunk: &lines::LineChunk,
) -> Result<ChunkOutcome, CommandError> {
    let mut outcome = rows(job, inputs, chunk);
    if matches!(job.format, OutputFormat::Packed) {
        outcome.output = packed::pack(&outcome.output)
            .map_err(|error| unwritable(Path::new("the output"), &error))?;
    }
    Ok(outcome)
}

fn rows(job: &TrajectoryJob, inputs: &InputFiles, chunk: &lines::LineChunk) -> ChunkOutcome {
    let mut outcome =
        ChunkOutcome { output: Vec::with_capacity(chunk.bytes.len()), ..ChunkOutcome::default() };
    let name = inputs.files[chunk.from.file].display().to_string();
    if chunk.too_long {
        let reason = format!("longer than {} MB", LONGEST >> 20);
        outcome.reject(&name, ("line", chunk.to.line), "too-long", &reason);
    }
    for (at, line) in split(&chunk.bytes).enumerate() {
        let number = chunk.from.line + at as u64 + 1;
        let first = number == 1;
        let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if !line.trim_ascii().is_empty() {
            row(job, &name, number, line, &mut outcome);
        }
    }
    outcome
}

fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    ends.map(move |end| {
        let line = &bytes[at..end];
        at = end + 1;
        line
    })
}

fn row(job: &TrajectoryJob, name: &str, number: u64, line: &[u8], outcome: &mut ChunkOutcome) {
    let compressed = match job.summaries.compress(line, &job.settings, &*job.counter) {
        Ok(compressed) => compressed,
        Err(error) => {
            return outcome.reject(name, ("line", number), error.code(), &error.to_string());
        }
    };
    if compressed.metrics.still_over_limit && !job.save_over_limit {
        return outcome.over_limit(name, ("line", number), compressed.metrics.compressed_tokens);
    }
    outcome.output.extend_from_slice(compressed.bytes.as_deref().unwrap_or(line));
    outcome.output.push(b'\n');
    job.transcripts.wrote(compressed.shape);
    outcome.totals.add(&compressed.metrics);
    outcome.counted += u64::from(compressed.counted);
}
