//! Reading what may have no end: no device fills the memory of a command.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes that are read of what has no size of its own: standard input, a pipe, a device. A file has one, which is
/// seen before it is named.
pub const MOST_STREAMED: u64 = 256 << 20;

/// All of a file that a person names, which may be a pipe or a device as well. More than `most` of what has no
/// size is refused as [`ErrorKind::FileTooLarge`].
pub fn any(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_file() {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    stream(file, most)
}

/// All of a stream. More than `most` is refused as [`ErrorKind::FileTooLarge`].
pub fn stream(read: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
