//! Creates files and folders that only the user may read, because conversations are private.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a new file that only its user may read and write (mode 0600, where the system has modes).
///
/// # Errors
/// Fails where the file exists already, or cannot be created.
pub fn file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder and its parents, where they do not exist (mode 0700, where the system has modes).
///
/// # Errors
/// Fails where the folder cannot be created.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
