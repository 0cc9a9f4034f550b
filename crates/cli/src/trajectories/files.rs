//! The files of a run: its inputs, its outputs, and their temporary names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::output::reason;
use crate::paths::{files_in, is_folder, transcripts};
use crate::stdin::is_stdin;

/// The form of a file of rows, which the end of its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFileKind {
    /// One JSON object on each line.
    Lines,
    /// One JSON object on each line, compressed with zstd.
    Packed,
    /// A Parquet file: one row of it for each row.
    Parquet,
}

impl RowFileKind {
    /// The kind that the end of the file's name tells.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match () {
            () if name.ends_with(".parquet") => Self::Parquet,
            () if name.ends_with(".zst") => Self::Packed,
            () => Self::Lines,
        }
    }
}

/// The inputs, in the order in which they are read.
pub struct InputFiles {
    pub files: Vec<PathBuf>,
    /// The bytes of all inputs. `None` if standard input is one of them, because its size is not known.
    pub bytes: Option<u64>,
    /// A message for each folder that could not be read.
    pub closed: Vec<String>,
}

impl InputFiles {
    pub fn new(named: &[PathBuf], output: &Path) -> Result<Self, CommandError> {
        let (mut files, mut closed) = (Vec::new(), Vec::new());
        for path in named {
            if is_folder(path) {
                files.extend(rows_in(path, RowFileKind::of(output), &mut closed)?);
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
        Ok(Self { files, bytes, closed })
    }

    pub fn has_stdin(&self) -> bool {
        self.files.iter().any(|path| is_stdin(path))
    }

    /// The names and sizes in bytes of the inputs. If they are the same, the inputs count as the same.
    pub fn identity(&self) -> Vec<(String, u64)> {
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
        self.files.iter().map(|path| (path.display().to_string(), size(path))).collect()
    }
}

/// The files of a folder whose names look like rows for such an output, sorted by name. Adds a message for each folder
/// in it that cannot be read to `closed`.
fn rows_in(
    folder: &Path,
    output: RowFileKind,
    closed: &mut Vec<String>,
) -> Result<Vec<PathBuf>, CommandError> {
    const OURS: [&str; 3] = [".rejects.jsonl", ".metrics.json", ".manifest.json"];
    if output == RowFileKind::Parquet {
        let is_parquet = |name: &str| name.ends_with(".parquet");
        let files = files_in(folder, &is_parquet).map_err(|error| unreadable(folder, &error))?;
        return match files.is_empty() {
            true => Err(CommandError::failed(format!(
                "{}: there is no .parquet file in this folder",
                folder.display()
            ))),
            false => Ok(files),
        };
    }
    let content = transcripts(std::slice::from_ref(&folder.to_owned()))?;
    closed.extend(content.closed);
    let paths = content.files.into_iter().map(|file| file.path);
    let is_ours = |path: &PathBuf| OURS.iter().any(|end| path.to_string_lossy().ends_with(end));
    Ok(paths.filter(|path| !is_ours(path)).collect())
}

/// The paths of the outputs, and of the temporary files that become them.
pub struct OutputPaths {
    pub output: PathBuf,
    pub output_part: PathBuf,
    pub rejects: PathBuf,
    pub rejects_part: PathBuf,
    pub metrics: Option<PathBuf>,
    pub manifest: PathBuf,
    /// The lock file. Its name leaves out the output's end, because outputs that differ only in it share the other
    /// files.
    pub lock: PathBuf,
}

impl OutputPaths {
    /// The paths for an output. `metrics` is the name of the metrics file in a configuration: empty for no such file,
    /// `None` for the usual name.
    pub fn new(output: &Path, metrics: Option<&str>) -> Result<Self, CommandError> {
        // A pipe or a device would be replaced by a file in the end.
        let is_special = output.metadata().is_ok_and(|meta| !meta.is_file());
        if is_special || is_stdin(output) || output.file_name().is_none() {
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

    /// The temporary path of the output while its parts are joined.
    pub fn assembled(&self) -> PathBuf {
        self.output_part.with_extension("whole")
    }

    /// Removes all files that a run could be resumed from.
    pub fn clear(&self) {
        let _ = fs::remove_file(&self.manifest);
        // A run that was killed while it wrote the manifest leaves this file.
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
