//! The files of a run: what is read, and what stands where while it is not done.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use crate::error::CommandError;
use crate::input::is_stdin;
use crate::output::reason;

/// What is read, in order.
pub struct Inputs {
    pub files: Vec<PathBuf>,
    /// Bytes of all of them, where all are files.
    pub bytes: Option<u64>,
}

impl Inputs {
    pub fn new(named: &[PathBuf], output: &Path) -> Result<Self, CommandError> {
        let mut files = Vec::new();
        for path in named {
            if !is_stdin(path) && path.is_dir() {
                files.extend(rows_in(path)?);
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

/// The files of a folder that look like rows, by name.
fn rows_in(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let is_made_by_us = |name: &str| name.ends_with(".rejects.jsonl");
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.is_file() && name.ends_with(".jsonl") && !is_made_by_us(&name)
        })
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(CommandError::failed(format!(
            "{}: there is no .jsonl file in this folder",
            folder.display()
        )));
    }
    Ok(found)
}

/// What is written, and where it stands before it is done.
pub struct Paths {
    pub output: PathBuf,
    pub output_part: PathBuf,
    pub rejects: PathBuf,
    pub rejects_part: PathBuf,
    pub metrics: Option<PathBuf>,
    pub manifest: PathBuf,
}

impl Paths {
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
        let stem = name.strip_suffix(".jsonl").unwrap_or(&name);
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
            output: output.to_owned(),
            rejects,
            metrics,
        })
    }

    /// Gives the finished files their names. Can be done again after it was interrupted.
    pub fn publish(&self, manifest: &Manifest) -> Result<(), CommandError> {
        manifest.save(self)?;
        let pairs = [(&self.rejects_part, &self.rejects), (&self.output_part, &self.output)];
        for (part, whole) in pairs {
            let done = match fs::metadata(part) {
                Ok(meta) if meta.len() == 0 && part == &self.rejects_part => {
                    let _ = fs::remove_file(whole);
                    fs::remove_file(part)
                }
                Ok(_) => fs::rename(part, whole),
                // It has its name already.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            };
            done.map_err(|error| unwritable(whole, &error))?;
        }
        Ok(())
    }

    /// Nothing is left to go on with.
    pub fn clear(&self) {
        let _ = fs::remove_file(&self.manifest);
        // Of a run that was killed while it wrote it.
        let _ = fs::remove_file(self.manifest.with_extension("json.new"));
    }
}

pub fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("{} cannot be read: {}", path.display(), reason(error)))
}

pub fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("{} cannot be written: {}", path.display(), reason(error)))
}
