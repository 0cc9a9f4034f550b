//! One run at a time writes to an output.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::files::unwritable;
use crate::error::CommandError;

/// Held as long as a run lasts. The system lets go of it when the run is killed; what stays then
/// is an empty file that the next run takes.
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Takes it, or says who has it. `output` is what a user calls the thing.
    pub fn take(path: &Path, output: &Path) -> Result<Self, CommandError> {
        loop {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            let file = opened.map_err(|error| unwritable(output, &error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(CommandError::failed(format!(
                        "another run is writing {}",
                        output.display()
                    ))
                    .hint("wait for it, or choose another file with -o"));
                }
                // Some network file systems have no locks: then nobody can be told apart.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(unwritable(output, &error)),
            }
            // Whoever had it before may have removed the file after we opened it.
            if is_there(&file, path).map_err(|error| unwritable(output, &error))? {
                return Ok(Self { path: path.to_owned(), _file: file });
            }
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Where a path cannot be told from another file of its name, the file has to stay.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the path still names this file.
#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
