//! The manifest of a run, on disk: after each chunk it records the lengths of the outputs and the position in the
//! inputs. A run that was killed is resumed by cutting its outputs back to these lengths.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use midfold::core::trajectory::TrajectoryTotals;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::files::{OutputPaths, unreadable, unwritable};
use super::lines::LinePosition;
use crate::error::CommandError;

/// The version of the manifest's format.
const VERSION: u32 = 2;
/// The time between two syncs to disk. After a power failure at most this much work is lost.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunManifest {
    version: u32,
    /// The hash of the settings and inputs. A run is resumed only where it is the same.
    fingerprint: String,
    /// Whether all rows are written. Only the files' final names are missing then.
    finished: bool,
    pub position: LinePosition,
    /// The length of the output in bytes.
    output: u64,
    rejects: u64,
    pub totals: TrajectoryTotals,
    /// The number of rows whose tokens were counted.
    pub counted: u64,
    /// The time of the start, in milliseconds since 1970.
    pub started: u64,
    pub ended: u64,
    /// Milliseconds of work, without interruptions.
    pub worked: u64,
}

impl RunManifest {
    pub fn new(fingerprint: String, started: u64) -> Self {
        Self {
            version: VERSION,
            fingerprint,
            finished: false,
            position: LinePosition::default(),
            output: 0,
            rejects: 0,
            totals: TrajectoryTotals::default(),
            counted: 0,
            started,
            ended: 0,
            worked: 0,
        }
    }

    /// The number of rows that are done.
    pub fn rows(&self) -> u64 {
        self.totals.trajectories + self.totals.failed
    }

    /// The manifest of an earlier run. `None` where there is none. Fails where another version wrote it.
    pub fn load(paths: &OutputPaths) -> Result<Option<Self>, CommandError> {
        let path = &paths.manifest;
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(path, &error)),
        };
        let known: Result<Self, _> = serde_json::from_slice(&text);
        match known {
            Ok(manifest) if manifest.version == VERSION => Ok(Some(manifest)),
            _ => Err(CommandError::failed(format!(
                "{} was written by another version of midfold",
                path.display()
            ))
            .hint("without --resume the run starts over")),
        }
    }

    /// Fails where the manifest belongs to a run with other settings or inputs.
    pub fn check(self, fingerprint: &str, paths: &OutputPaths) -> Result<Self, CommandError> {
        if self.fingerprint == fingerprint {
            return Ok(self);
        }
        Err(CommandError::failed(format!(
            "the unfinished run of {} had other settings or other inputs",
            paths.output.display()
        ))
        .hint("give the same ones again, or leave --resume away to start over"))
    }

    /// Goes on with the files of the earlier run.
    pub fn resume(self, paths: &OutputPaths) -> Result<RowSink, CommandError> {
        if self.finished && !paths.output_part.exists() {
            // The run was killed after all rows were written, while the files got their names.
            return Ok(RowSink {
                output: None,
                rejects: None,
                manifest: self,
                synced: Instant::now(),
            });
        }
        let output = cut(&paths.output_part, self.output)?;
        let rejects = match self.finished && !paths.rejects_part.exists() {
            true => None,
            false => Some(cut(&paths.rejects_part, self.rejects)?),
        };
        Ok(RowSink { output: Some(output), rejects, manifest: self, synced: Instant::now() })
    }

    /// Records that the last row is written.
    pub fn finish(&mut self, now: u64, worked: Duration) {
        if !self.finished {
            self.finished = true;
            self.ended = now;
            self.worked += u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
        }
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Writes the manifest, as a whole or not at all.
    pub fn save(&self, paths: &OutputPaths) -> Result<(), CommandError> {
        let part = paths.manifest.with_extension("json.new");
        let saved = serde_json::to_vec(self)
            .map_err(io::Error::other)
            .and_then(|json| fs::write(&part, json))
            .and_then(|()| fs::rename(&part, &paths.manifest));
        saved.map_err(|error| unwritable(&paths.manifest, &error))
    }
}

/// Opens a file of an earlier run, and cuts off the bytes after the last recorded length.
fn cut(path: &Path, length: u64) -> Result<File, CommandError> {
    let opened = OpenOptions::new().write(true).open(path);
    let mut file = opened
        .map_err(|error| unwritable(path, &error).hint("without --resume the run starts over"))?;
    let there = file.metadata().map_err(|error| unreadable(path, &error))?.len();
    if there < length {
        return Err(CommandError::failed(format!(
            "{} is shorter than when it was left",
            path.display()
        ))
        .hint("without --resume the run starts over"));
    }
    let cut = file.set_len(length).and_then(|()| file.seek(SeekFrom::Start(length)));
    cut.map_err(|error| unwritable(path, &error))?;
    Ok(file)
}

/// The result of one chunk: the bytes to write, and its figures.
#[derive(Default)]
pub struct ChunkOutcome {
    pub output: Vec<u8>,
    pub rejects: Vec<u8>,
    pub totals: TrajectoryTotals,
    pub counted: u64,
}

impl ChunkOutcome {
    /// Adds a row to the reject file. `place` is the name of the count, `line` or `row`, and the row's number.
    pub fn reject(&mut self, file: &str, place: (&str, u64), code: &str, reason: &str) {
        let (counted, number) = place;
        let record = json!({ "file": file, counted: number, "code": code, "reason": reason });
        self.rejects.extend_from_slice(record.to_string().as_bytes());
        self.rejects.push(b'\n');
        self.totals.reject(code);
    }

    /// Adds a row that stays too long to the reject file.
    pub fn over_limit(&mut self, file: &str, place: (&str, u64), tokens: u64) {
        let reason = format!("{tokens} tokens are left, and none of them may go");
        self.reject(file, place, "over-limit", &reason);
    }
}

/// The files that rows are written to, in order.
pub struct RowSink {
    output: Option<File>,
    rejects: Option<File>,
    manifest: RunManifest,
    synced: Instant,
}

impl RowSink {
    /// Makes new files.
    pub fn create(paths: &OutputPaths, manifest: RunManifest) -> Result<Self, CommandError> {
        // Files of an earlier run are removed, so that nobody takes them for those of this run.
        paths.clear();
        let create = |path: &Path| {
            let opened = OpenOptions::new().create(true).write(true).truncate(true).open(path);
            opened.map_err(|error| unwritable(path, &error))
        };
        let (output, rejects) = (create(&paths.output_part)?, create(&paths.rejects_part)?);
        manifest.save(paths)?;
        Ok(Self { output: Some(output), rejects: Some(rejects), manifest, synced: Instant::now() })
    }

    pub fn manifest(&self) -> &RunManifest {
        &self.manifest
    }

    /// Closes the files. The rows are synced to disk before anything says that the run is done.
    pub fn close(self, paths: &OutputPaths) -> Result<RunManifest, CommandError> {
        let files = [(self.output, &paths.output_part), (self.rejects, &paths.rejects_part)];
        for (file, path) in files {
            if let Some(file) = file {
                file.sync_all().map_err(|error| unwritable(path, &error))?;
            }
        }
        Ok(self.manifest)
    }

    /// Writes the rows of a chunk, and then records in the manifest that they are done.
    pub fn take(
        &mut self,
        outcome: &ChunkOutcome,
        to: LinePosition,
        paths: &OutputPaths,
    ) -> Result<(), CommandError> {
        let sync = self.synced.elapsed() >= SYNC_EVERY;
        let put = |file: &mut Option<File>, bytes: &[u8], path: &Path| match file {
            Some(file) => file
                .write_all(bytes)
                .and_then(|()| if sync { file.sync_data() } else { Ok(()) })
                .map_err(|error| unwritable(path, &error)),
            None => Ok(()),
        };
        // Rows first: after a crash the files may be longer than the manifest says, and `resume` cuts them. A manifest
        // that is ahead of its files could not be repaired.
        put(&mut self.output, &outcome.output, &paths.output_part)?;
        put(&mut self.rejects, &outcome.rejects, &paths.rejects_part)?;
        if sync {
            self.synced = Instant::now();
        }
        let manifest = &mut self.manifest;
        manifest.output += outcome.output.len() as u64;
        manifest.rejects += outcome.rejects.len() as u64;
        manifest.totals.merge(&outcome.totals);
        manifest.counted += outcome.counted;
        manifest.position = to;
        manifest.save(paths)
    }
}
