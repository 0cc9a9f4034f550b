//! The keys that seal the vendors' compactions that clients carry. They are named by the user, or made in a file beside
//! the default store.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use midfold::store::private;
use midfold_proxy::{RandomSource, SealKey};

use crate::env::{self, SEAL_KEYS};
use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::{Output, reason};

/// The name of the file beside the default store.
const FILE: &str = "seal.key";

/// The keys of `--seal-keys`, of the environment, or of the file beside the default store, which is made where it does
/// not exist. `None` if the store is in memory, there is no data folder, or the file cannot be made. The server then
/// makes keys of its own, and compactions that it sealed do not open after a restart.
pub fn keys(
    file: Option<&Path>,
    is_memory: bool,
    random: &RandomSource,
    output: &Output,
) -> Result<Option<Vec<SealKey>>, CommandError> {
    if let Some(file) = file {
        return read(file).map(Some);
    }
    if let Some(text) = env::seal_keys() {
        let keys = SealKey::list(&text);
        return keys
            .map(Some)
            .map_err(|error| CommandError::usage(format!("{SEAL_KEYS}: {error}")));
    }
    let Some(folder) = env::data_folder().filter(|_| !is_memory) else { return Ok(None) };
    let file = folder.join(FILE);
    match ensure(&folder, &file, random) {
        Ok(()) => read(&file).map(Some),
        Err(error) => {
            // The proxy works without this file. Only compactions that clients carry cannot be opened after a restart.
            output.stderr(&format!(
                "midfold: {} cannot be made ({}); compactions that clients carry do not open after \
                 a restart\n",
                file.display(),
                reason(&error)
            ));
            Ok(None)
        }
    }
}

fn read(file: &Path) -> Result<Vec<SealKey>, CommandError> {
    let text = InputFile::text(file)?;
    SealKey::list(&text)
        .map_err(|error| CommandError::failed(format!("{}: {error}", file.display())))
}

/// Makes the file where it does not exist. If another process makes it at the same time, one of them succeeds and both
/// use that file.
fn ensure(folder: &Path, file: &Path, random: &RandomSource) -> std::io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    private::folder(folder)?;
    let none = || std::io::Error::other("the system has no randomness");
    let key = SealKey::random(random).ok_or_else(none)?;
    // The key is written to another file first, so that nobody reads half a key. A hard link then gives it its name:
    // unlike a rename it fails where the name exists, and so never replaces the key of another process.
    let part = folder.join(format!("{FILE}.{}.part", std::process::id()));
    let _ = fs::remove_file(&part);
    private::file(&part)?.write_all(format!("{}\n", key.text()).as_bytes())?;
    let linked = fs::hard_link(&part, file);
    let _ = fs::remove_file(&part);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
