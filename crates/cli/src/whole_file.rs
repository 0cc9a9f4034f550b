//! A file that is written as a whole or not at all: the old file stays until the new one is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use midfold::store::private;

/// Who may read a file that is new. A file that replaces another one keeps its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReaders {
    /// As the system does it for new files.
    Usual,
    /// Only the user.
    User,
}

/// A file that is being written. Until [`WholeFile::finish`], nothing has its name but the old file.
///
/// Pipes, devices and files with several names are written in place, because a rename would put another file there.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    /// The temporary file, and the file that it replaces; `None` where the file is written in place.
    part: Option<(PathBuf, PathBuf)>,
    /// Whether a file that is written in place still has its old text.
    has_old_text: bool,
}

impl WholeFile {
    /// Begins to write the file at this path. Symbolic links stay, and what they lead to is written.
    pub fn open(path: &Path, readers: FileReaders) -> io::Result<Self> {
        let path = behind_links(path)?;
        let old = fs::metadata(&path).ok();
        if let Some(meta) = old.as_ref().filter(|meta| !meta.is_file() || has_other_names(meta)) {
            let file = OpenOptions::new().write(true).open(&path)?;
            return Ok(Self { file, part: None, has_old_text: meta.is_file() });
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        // In the same folder, because a rename does not cross file systems.
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        // A run with the same number may have been killed, as it happens in containers.
        let _ = fs::remove_file(&part);
        let file = match (&old, readers) {
            (None, FileReaders::Usual) => File::create_new(&part)?,
            // Private from the beginning, because whoever has opened a file may read what is written later.
            _ => private::file(&part)?,
        };
        let this = Self { file, part: Some((part, path)), has_old_text: false };
        if let Some(old) = old {
            this.file.set_permissions(old.permissions())?;
        }
        Ok(this)
    }

    /// Gives the file its name, now that it is complete.
    pub fn finish(mut self) -> io::Result<()> {
        self.drop_old_text()?;
        self.file.flush()?;
        let Some((part, path)) = &self.part else { return Ok(()) };
        // Before the rename, so that after a power cut the name does not lead to an incomplete file.
        self.file.sync_all()?;
        fs::rename(part, path)?;
        self.part = None;
        Ok(())
    }

    fn drop_old_text(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.has_old_text) {
            true => self.file.set_len(0),
            false => Ok(()),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.drop_old_text()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.part {
            let _ = fs::remove_file(part);
        }
    }
}

/// The most symbolic links that are followed one after another. Operating systems have a similar limit.
const MOST_LINKS: usize = 40;

/// The path of a file behind its symbolic links, so that a link stays a link and its target is replaced. The target
/// need not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        // A link of the system to an open pipe, as `/dev/stdout` is, names no path. The system follows it itself.
        if fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            return Ok(path);
        }
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().map(|folder| folder.join(&target)).unwrap_or(target);
    }
    Err(io::Error::other("its links lead to each other"))
}

/// Whether the file has hard links: its other names have to get the new text, too.
#[cfg(unix)]
fn has_other_names(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(meta) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}
