//! A lock that lets one run at a time write to an output.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::files::unwritable;
use crate::error::CommandError;

/// Held as long as a run lasts. If the run is killed, the system releases the lock, and the next run takes over the
/// empty file that stays.
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Takes the lock, or fails where another run holds it. `output` is named in errors.
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
                // Some network file systems have no locks. The run goes on without one.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(unwritable(output, &error)),
            }
            // The run that held the lock before may have removed the file after it was opened here. Then the lock is on
            // a file that has no name, so it is taken again.
            if is_there(&file, path).map_err(|error| unwritable(output, &error))? {
                return Ok(Self { path: path.to_owned(), _file: file });
            }
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Only on Unix can a later run notice that the file under this path is another one. Elsewhere the file stays.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the path still names this file.
#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
