//! Watches the opened database file. A process that has it open may go on writing after it was removed, and all that
//! would be lost.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::error::{FailureKind, StoreError};

/// An opened file: its path, and the system's id for it.
pub(super) struct OpenedFile {
    path: PathBuf,
    /// `None` where the system has no ids, or the file could not be examined.
    id: Option<FileId>,
}

/// Device number and inode of a file.
type FileId = (u64, u64);

impl OpenedFile {
    /// The file that is at this path now.
    pub fn at(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let id = std::fs::metadata(&path).ok().as_ref().and_then(id);
        Self { path, id }
    }

    /// Fails where the file is not at its path any more, or another file is there.
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
            // The file cannot be examined. The next read or write will say why.
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

/// On other systems, an open file cannot be removed.
#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<FileId> {
    None
}
