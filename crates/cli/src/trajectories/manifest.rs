//! How far a run is, on disk: after each chunk the lengths of what was written, and where reading
//! goes on. A run that is killed between two of them cuts its files back to the last one.

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

/// The version of this file.
const VERSION: u32 = 2;
/// After a power failure at most this much is done again.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunManifest {
    version: u32,
    /// Settings and inputs.
    fingerprint: String,
    /// Everything is written; only names are to be given.
    finished: bool,
    pub position: LinePosition,
    /// Lengths of the files.
    output: u64,
    rejects: u64,
    pub totals: TrajectoryTotals,
    /// Rows whose tokens were counted.
    pub counted: u64,
    /// Milliseconds since 1970.
    pub started: u64,
    pub ended: u64,
    /// Milliseconds of work, interruptions left out.
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

    /// Rows that are done.
    pub fn rows(&self) -> u64 {
        self.totals.trajectories + self.totals.failed
    }

    /// That of an earlier run, if there is one.
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

    /// Whether it belongs to this run.
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

    /// Goes on with its files.
    pub fn resume(self, paths: &OutputPaths) -> Result<RowSink, CommandError> {
        if self.finished && !paths.output_part.exists() {
            // Killed while the files got their names.
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

    /// The last row is written.
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

    /// Writes it, whole or not at all.
    pub fn save(&self, paths: &OutputPaths) -> Result<(), CommandError> {
        let part = paths.manifest.with_extension("json.new");
        let saved = serde_json::to_vec(self)
            .map_err(io::Error::other)
            .and_then(|json| fs::write(&part, json))
            .and_then(|()| fs::rename(&part, &paths.manifest));
        saved.map_err(|error| unwritable(&paths.manifest, &error))
    }
}

/// A file of an earlier run, without what was written after the last record of it.
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

/// What one chunk came to.
#[derive(Default)]
pub struct ChunkOutcome {
    pub output: Vec<u8>,
    pub rejects: Vec<u8>,
    pub totals: TrajectoryTotals,
    pub counted: u64,
}

impl ChunkOutcome {
    /// Puts a row into the reject file: `place` says where it stands, and what that number is
    /// called.
    pub fn reject(&mut self, file: &str, place: (&str, u64), code: &str, reason: &str) {
        let (counted, number) = place;
        let record = json!({ "file": file, counted: number, "code": code, "reason": reason });
        self.rejects.extend_from_slice(record.to_string().as_bytes());
        self.rejects.push(b'\n');
        self.totals.reject();
    }

    /// The same for a row that stays too long.
    pub fn over_limit(&mut self, file: &str, place: (&str, u64), tokens: u64) {
        let reason = format!("{tokens} tokens are left, and none of them may go");
        self.reject(file, place, "over-limit", &reason);
    }
}

/// Where rows go, in their order.
pub struct RowSink {
    output: Option<File>,
    rejects: Option<File>,
    manifest: RunManifest,
    synced: Instant,
}

impl RowSink {
    /// New files.
    pub fn create(paths: &OutputPaths, manifest: RunManifest) -> Result<Self, CommandError> {
        // What an earlier run left must not be taken for this one's.
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

    /// Nothing more is written. The rows are on the disk before anything says that they are.
    pub fn close(self, paths: &OutputPaths) -> Result<RunManifest, CommandError> {
        let files = [(self.output, &paths.output_part), (self.rejects, &paths.rejects_part)];
        for (file, path) in files {
            if let Some(file) = file {
                file.sync_all().map_err(|error| unwritable(path, &error))?;
            }
        }
        Ok(self.manifest)
    }

    /// Writes the rows of a chunk, and that they are done.
    pub fn take(
        &mut self,
        done: &ChunkOutcome,
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
        put(&mut self.output, &done.output, &paths.output_part)?;
        put(&mut self.rejects, &done.rejects, &paths.rejects_part)?;
        if sync {
            self.synced = Instant::now();
        }
        let manifest = &mut self.manifest;
        manifest.output += done.output.len() as u64;
        manifest.rejects += done.rejects.len() as u64;
        manifest.totals.merge(&done.totals);
        manifest.counted += done.counted;
        manifest.position = to;
        manifest.save(paths)
    }
}
