//! The work, on all cores: one thread reads, some compress, this one writes, in order. A chunk
//! takes a permit when it is read and gives it back when it is written: that bounds the memory.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::Job;
use super::files::{Inputs, Paths, unreadable};
use super::lines::{Chunk, Chunks, LONGEST, Position};
use super::manifest::{Done, Manifest, Sink};
use super::report::Progress;
use crate::error::CommandError;

/// Chunks in flight for each worker.
const AHEAD: usize = 2;

type Read = Result<Chunk, (PathBuf, io::Error)>;

/// Does all the rows. What is returned says so, and nothing has its name yet.
pub fn work(
    job: &Job,
    inputs: &Inputs,
    paths: &Paths,
    mut sink: Sink,
    quiet: bool,
) -> Result<Manifest, CommandError> {
    if sink.manifest().is_finished() {
        return sink.close(paths);
    }
    let mut progress = Progress::new(quiet, inputs, sink.manifest());
    let from = sink.manifest().position;
    let written = threads(job, inputs, from, |results, permits| {
        write(&mut sink, paths, results, permits, &mut progress)
    });
    progress.end();
    written?;
    sink.close(paths)
}

/// Goes over the rows from there on, and writes nothing.
pub fn look(job: &Job, inputs: &Inputs, from: Position) -> Result<(), CommandError> {
    threads(job, inputs, from, |results, permits| {
        for (_, _, done) in results {
            done?;
            let _ = permits.recv_timeout(Duration::from_secs(1));
        }
        Ok(())
    })
}

type Results = Receiver<(u64, Position, Result<Done, CommandError>)>;

/// Reads and works; `take` takes what comes of it.
fn threads(
    job: &Job,
    inputs: &Inputs,
    from: Position,
    take: impl FnOnce(&Results, &Receiver<()>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let (permit, permits) = sync_channel::<()>(job.workers * AHEAD + 1);
    let (task, tasks) = channel::<(u64, Read)>();
    let (result, results) = channel::<(u64, Position, Result<Done, CommandError>)>();
    let tasks = Mutex::new(tasks);
    std::thread::scope(|scope| {
        scope.spawn(move || reader(job.chunk, inputs, from, &permit, &task));
        for _ in 0..job.workers {
            let result = result.clone();
            let tasks = &tasks;
            scope.spawn(move || worker(job, inputs, tasks, &result));
        }
        drop(result);
        let taken = take(&results, &permits);
        // Whoever still reads or works notices that nobody listens.
        drop((results, permits));
        taken
    })
}

fn reader(
    size: usize,
    inputs: &Inputs,
    from: Position,
    permit: &SyncSender<()>,
    task: &Sender<(u64, Read)>,
) {
    let mut chunks = Chunks::new(&inputs.files, from, size);
    for seq in 0.. {
        let next = match chunks.next() {
            Ok(None) => return,
            Ok(Some(chunk)) => Ok(chunk),
            Err(error) => Err(error),
        };
        let failed = next.is_err();
        if permit.send(()).is_err() || task.send((seq, next)).is_err() || failed {
            return;
        }
    }
}

fn worker(
    job: &Job,
    inputs: &Inputs,
    tasks: &Mutex<Receiver<(u64, Read)>>,
    result: &Sender<(u64, Position, Result<Done, CommandError>)>,
) {
    loop {
        // The lock is held for this line only.
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((seq, chunk)) = next else { return };
        let (to, done) = match chunk {
            Ok(chunk) => (chunk.to, Ok(rows(job, inputs, &chunk))),
            Err((path, error)) => (Position::default(), Err(unreadable(&path, &error))),
        };
        if result.send((seq, to, done)).is_err() {
            return;
        }
    }
}

fn write(
    sink: &mut Sink,
    paths: &Paths,
    results: &Results,
    permits: &Receiver<()>,
    progress: &mut Progress,
) -> Result<(), CommandError> {
    let mut waiting = BTreeMap::new();
    let mut wanted = 0;
    for (seq, to, done) in results {
        waiting.insert(seq, (to, done));
        while let Some((to, done)) = waiting.remove(&wanted) {
            sink.take(&done?, to, paths)?;
            progress.show(sink.manifest());
            let _ = permits.recv_timeout(Duration::from_secs(1));
            wanted += 1;
        }
    }
    Ok(())
}

/// All rows of a chunk.
fn rows(job: &Job, inputs: &Inputs, chunk: &Chunk) -> Done {
    let mut done = Done { output: Vec::with_capacity(chunk.bytes.len()), ..Done::default() };
    let name = inputs.files[chunk.from.file].display().to_string();
    if chunk.too_long {
        let reason = format!("longer than {} MB", LONGEST >> 20);
        reject(&mut done, &name, chunk.to.line, "too-long", &reason);
    }
    for (at, line) in lines(&chunk.bytes).enumerate() {
        let number = chunk.from.line + at as u64 + 1;
        let first = number == 1;
        let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if !line.trim_ascii().is_empty() {
            row(job, &name, number, line, &mut done);
        }
    }
    done
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    ends.map(move |end| {
        let line = &bytes[at..end];
        at = end + 1;
        line
    })
}

fn row(job: &Job, name: &str, number: u64, line: &[u8], done: &mut Done) {
    let found = match job.summaries.compress(line, &job.settings, &*job.counter) {
        Ok(found) => found,
        Err(error) => return reject(done, name, number, error.code(), &error.to_string()),
    };
    if found.metrics.still_over_limit && !job.save_over_limit {
        let tokens = found.metrics.compressed_tokens;
        let reason = format!("{tokens} tokens are left, and none of them may go");
        return reject(done, name, number, "over-limit", &reason);
    }
    done.output.extend_from_slice(found.bytes.as_deref().unwrap_or(line));
    done.output.push(b'\n');
    done.totals.add(&found.metrics);
    done.counted += u64::from(found.counted);
}

fn reject(done: &mut Done, name: &str, number: u64, code: &str, reason: &str) {
    let record = json!({ "file": name, "line": number, "code": code, "reason": reason });
    done.rejects.extend_from_slice(record.to_string().as_bytes());
    done.rejects.push(b'\n');
    done.totals.reject();
}
