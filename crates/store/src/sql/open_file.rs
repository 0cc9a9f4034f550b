//! Watches the opened database file. A process that has it open may go on writing after it was removed, and all that
//! would be lost.

use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{FailureKind, StoreError};

/// Bytes that a disk with room can take. A write of a turn is seldom larger.
const ROOM: usize = 64 << 10;
/// The number of the next probe of this process. Several may run at a time.
static PROBES: AtomicU64 = AtomicU64::new(0);

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
            Ok(on_disk) if id(&on_disk) == self.id => return Ok(()),
            Ok(_) => "the file was replaced by another one; restart what has it open",
            Err(error) if error.kind() == ErrorKind::NotFound => {
                "the file was removed; bring it back, or restart what has it open to begin a new one"
            }
            // The file cannot be examined. The next read or write will say why.
            Err(_) => return Ok(()),
        };
        Err(StoreError::Backend { kind: FailureKind::Gone, text: text.to_owned() })
    }

    /// Fails where the disk of the file has no room for a write.
    pub fn has_room(&self) -> Result<(), StoreError> {
        let is_full = |error: &Error| {
            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        };
        match write_beside(&self.path, ROOM) {
            Err(error) if is_full(&error) => {
                let text = "the disk is full: free some space".to_owned();
                Err(StoreError::Backend { kind: FailureKind::Full, text })
            }
            // A folder that takes no new file is no proof that the file cannot grow.
            _ => Ok(()),
        }
    }
}

/// Writes this many bytes into a file beside `path`, and removes the file. Where another process does the same at this
/// moment, both still learn whether there is room.
fn write_beside(path: &Path, bytes: usize) -> std::io::Result<()> {
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".room-{number}"));
    let probe = path.with_file_name(name);
    let written = std::fs::write(&probe, vec![1; bytes]);
    // Also after a failure, which may leave a part of it.
    let _ = std::fs::remove_file(&probe);
    written
}

#[cfg(unix)]
fn id(metadata: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// On other systems, an open file cannot be removed.
#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<FileId> {
    None
}
