//! The end of a run: its files get their final names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use super::columns;
use super::files::{OutputPaths, unwritable};
use super::manifest::RunManifest;
use super::packed;
use crate::error::CommandError;

/// The form of the output.
pub enum OutputFormat {
    Lines,
    Packed,
    #[cfg(feature = "parquet")]
    Parquet(columns::ColumnTable),
}

impl OutputFormat {
    /// The part of the format that the output depends on, for the fingerprint of the run.
    pub fn identity(&self) -> String {
        match self {
            Self::Lines => "lines".to_owned(),
            Self::Packed => "packed".to_owned(),
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => format!("parquet {}", table.column()),
        }
    }

    /// The file with the whole output: the one that was written chunk by chunk, or one into which its parts are joined.
    fn assembled(&self, paths: &OutputPaths, workers: usize) -> io::Result<PathBuf> {
        let (part, whole) = (&paths.output_part, paths.assembled());
        match self {
            Self::Lines => return Ok(part.clone()),
            Self::Packed => packed::assemble(part, &whole, workers)?,
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.assemble(part, &whole)?,
        }
        Ok(whole)
    }
}

/// Gives the finished files their names. Without a format, the output itself is dropped. If it is interrupted, it can be
/// called again.
pub fn publish(
    paths: &OutputPaths,
    manifest: &RunManifest,
    format: Option<&OutputFormat>,
    workers: usize,
) -> Result<(), CommandError> {
    manifest.save(paths)?;
    let failed = |path: &Path, error| unwritable(path, &error);
    let rejects = &paths.rejects_part;
    match fs::metadata(rejects) {
        Ok(meta) if meta.len() == 0 => {
            let _ = fs::remove_file(&paths.rejects);
            fs::remove_file(rejects).map_err(|error| failed(rejects, error))?;
        }
        Ok(_) => {
            fs::rename(rejects, &paths.rejects).map_err(|error| failed(&paths.rejects, error))?;
        }
        // An earlier, interrupted call has renamed this file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(rejects, error)),
    }
    if !paths.output_part.exists() {
        return Ok(());
    }
    if let Some(format) = format {
        let whole = format.assembled(paths, workers);
        let renamed = whole.and_then(|whole| fs::rename(whole, &paths.output));
        renamed.map_err(|error| failed(&paths.output, error))?;
    }
    match fs::remove_file(&paths.output_part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed(&paths.output_part, error))
        }
        _ => Ok(()),
    }
}
