//! Opens paths that programs name without waiting: a pipe that nobody writes to must not block a command.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use midfold::unblocked;

/// The bytes of a file whose path comes from a program or a search. Anything but a regular file is refused at once.
pub fn file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = unblocked(OpenOptions::new().read(true)).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(no_file(path));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`file`], for text in UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    let no_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(file(path)?).map_err(no_text)
}

fn no_file(path: &Path) -> io::Error {
    let kind = if path.is_dir() { "a directory" } else { "a pipe or a device" };
    io::Error::new(ErrorKind::InvalidInput, format!("it is {kind}, and no file"))
}
