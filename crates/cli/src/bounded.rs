//! Reads inputs that may never end (standard input, a pipe, a device) up to a bound.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes that are read of an input without a known size (standard input, a pipe, a device): 256 MiB. A regular
/// file has a size and is read whole.
pub const MOST_STREAMED: u64 = 256 << 20;

/// The bytes of a path that a person names: a file, a pipe or a device. More than `most` bytes from an input without a
/// known size are refused as [`ErrorKind::FileTooLarge`].
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
    // One byte more, so that a stream of exactly `most` bytes is not refused.
    read.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
