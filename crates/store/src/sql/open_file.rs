//! The file that was opened. Who has it open can go on with it after it was removed, and all is lost.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::error::{FailureKind, StoreError};

/// A file, by its name and by what the system calls it.
pub(super) struct OpenedFile {
    path: PathBuf,
    id: Option<FileId>,
}

/// Device and number of a file.
type FileId = (u64, u64);

impl OpenedFile {
    /// The file that is there now.
    pub fn at(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let id = std::fs::metadata(&path).ok().as_ref().and_then(id);
        Self { path, id }
    }

    /// Whether it is there still, and no other one.
    pub fn is_there(&self) -> Result<(), StoreError> {
        if cfg!(unix) && self.id.is_none() {
            return Ok(());
        }
        let text = match std::fs::metadata(&self.path) {
            Ok(found) if id(&found) == self.id => return Ok(()),
            Ok(_) => "the file was replaced by another one; restart what has it open",
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                "the file was removed; bring it back, or restart what has it open to begin a new one"
            }
            // It cannot be looked at: whoever reads or writes it says why.
            Err(_) => return Ok(()),
        };
        Err(StoreError::Backend { kind: FailureKind::Gone, text: text.to_owned() })
    }
}

#[cfg(unix)]
fn id(found: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<FileId> {
    None
}
