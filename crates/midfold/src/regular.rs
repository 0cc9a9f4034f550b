//! Reads files whose paths come from settings or from a program. Such a path may lead to a pipe, and opening it must
//! not wait.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Makes opening a pipe return at once, even if no other process has opened its other end.
///
/// ```
/// use std::fs::OpenOptions;
/// let opened = midfold::unblocked(OpenOptions::new().read(true)).open("Cargo.toml")?;
/// assert!(opened.metadata()?.is_file());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn unblocked(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        let flag = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        options.custom_flags(flag);
    }
    options
}

/// Reads a regular file of at most `most` bytes, or says why it cannot be used: a clause that is printed behind the
/// file's name. With `within`, the file has to lie in that folder.
pub(crate) fn bounded(path: &Path, within: Option<&Path>, most: u64) -> Result<Vec<u8>, String> {
    let why = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => format!("it cannot be read: {}", error.kind()),
    };
    if let Some(folder) = within {
        // Links are followed first: a link in the folder may lead to a file outside of it.
        let (real, folder) =
            (path.canonicalize().map_err(why)?, folder.canonicalize().map_err(why)?);
        if !real.starts_with(&folder) {
            return Err("it lies outside of the folder of the settings that name it".to_owned());
        }
    }
    let mut file = unblocked(OpenOptions::new().read(true)).open(path).map_err(why)?;
    if !file.metadata().map_err(why)?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    // One byte above the limit shows that the file is too long, whatever follows.
    file.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(why)?;
    match bytes.len() as u64 > most {
        true => Err(format!("it has more than {most} bytes")),
        false => Ok(bytes),
    }
}
