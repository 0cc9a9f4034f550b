//! The files of a run: what is read, and what is where until it is done.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::output::reason;
use crate::paths::{files_in, is_folder, is_stdin};

/// How rows are in a file; its name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFileKind {
    /// One JSON object a line.
    Lines,
    /// The same, packed with zstd.
    Packed,
    /// One row a row.
    Parquet,
}

impl RowFileKind {
    /// That of a file of this name.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match () {
            () if name.ends_with(".parquet") => Self::Parquet,
            () if name.ends_with(".zst") => Self::Packed,
            () => Self::Lines,
        }
    }
}

/// What is read, in order.
pub struct InputFiles {
    pub files: Vec<PathBuf>,
    /// Bytes of all of them, where all are files.
    pub bytes: Option<u64>,
}

impl InputFiles {
    pub fn new(named: &[PathBuf], output: &Path) -> Result<Self, CommandError> {
        let mut files = Vec::new();
        for path in named {
            if is_folder(path) {
                files.extend(rows_in(path, RowFileKind::of(output))?);
            } else {
                files.push(path.clone());
            }
        }
        let mut bytes = Some(0);
        for path in &files {
            if is_stdin(path) {
                bytes = None;
                continue;
            }
            let meta = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
            bytes = bytes.map(|sum| sum + meta.len());
            if fs::canonicalize(path).ok() == fs::canonicalize(output).ok()
                && fs::canonicalize(path).is_ok()
            {
                return Err(CommandError::usage(format!(
                    "{} would be read and written at once",
                    path.display()
                ))
                .hint("choose another file with -o"));
            }
        }
        Ok(Self { files, bytes })
    }

    pub fn has_stdin(&self) -> bool {
        self.files.iter().any(|path| is_stdin(path))
    }

    /// Names and sizes: what tells that an input is the same.
    pub fn identity(&self) -> Vec<(String, u64)> {
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
        self.files.iter().map(|path| (path.display().to_string(), size(path))).collect()
    }
}

/// The files of a folder that look like rows that go into such an output, by name.
fn rows_in(folder: &Path, output: RowFileKind) -> Result<Vec<PathBuf>, CommandError> {
    let is_made_by_us = |name: &str| name.ends_with(".rejects.jsonl");
    let ends: &[&str] = match output {
        RowFileKind::Parquet => &[".parquet"],
        RowFileKind::Lines | RowFileKind::Packed => &[".jsonl", ".jsonl.zst"],
    };
    let is_rows = |name: &str| ends.iter().any(|end| name.ends_with(end)) && !is_made_by_us(name);
    let found = files_in(folder, &is_rows).map_err(|error| unreadable(folder, &error))?;
    if found.is_empty() {
        return Err(CommandError::failed(format!(
            "{}: there is no {} file in this folder",
            folder.display(),
            ends[0]
        )));
    }
    Ok(found)
}

/// What is written, and where it is before it is done.
pub struct OutputPaths {
    pub output: PathBuf,
    pub output_part: PathBuf,
    pub rejects: PathBuf,
    pub rejects_part: PathBuf,
    pub metrics: Option<PathBuf>,
    pub manifest: PathBuf,
    /// Outputs that differ in their ends only share the other files, and so the lock.
    pub lock: PathBuf,
}

impl OutputPaths {
    /// `metrics` is the name of that file, where a configuration gives one: empty for none.
    pub fn new(output: &Path, metrics: Option<&str>) -> Result<Self, CommandError> {
        if output.is_dir() || is_stdin(output) || output.file_name().is_none() {
            return Err(CommandError::usage(format!(
                "{} is no file to write to",
                output.display()
            ))
            .hint("name a file: -o train.jsonl"));
        }
        let name = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        const ENDS: [&str; 3] = [".jsonl", ".jsonl.zst", ".parquet"];
        let stem = ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        let beside = |name: String| output.with_file_name(name);
        let rejects = beside(format!("{stem}.rejects.jsonl"));
        let metrics = match metrics {
            None => Some(beside(format!("{stem}.metrics.json"))),
            Some("") => None,
            Some(named) => Some(beside(named.to_owned())),
        };
        Ok(Self {
            output_part: beside(format!("{name}.part")),
            rejects_part: beside(format!("{stem}.rejects.jsonl.part")),
            manifest: beside(format!("{name}.manifest.json")),
            lock: beside(format!("{stem}.trajectories.lock")),
            output: output.to_owned(),
            rejects,
            metrics,
        })
    }

    /// The output while it is made of its parts.
    pub fn assembled(&self) -> PathBuf {
        self.output_part.with_extension("whole")
    }

    /// Nothing is left to go on with.
    pub fn clear(&self) {
        let _ = fs::remove_file(&self.manifest);
        // Of a run that was killed while it wrote it.
        let _ = fs::remove_file(self.manifest.with_extension("json.new"));
        let _ = fs::remove_file(self.assembled());
    }
}

pub fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("{} cannot be read: {}", path.display(), reason(error)))
}

pub fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("{} cannot be written: {}", path.display(), reason(error)))
}
