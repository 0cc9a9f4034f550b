//! `[after_fold]` of the settings: reads the files whose text follows each fold, and logs a warning for a file that
//! cannot be read.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use midfold::core::hooks::FoldHooks;

use crate::config;
use crate::error::CommandError;
use crate::regular::unblocked;

/// The hooks that the `[after_fold]` settings ask for. `None` where the settings have no such table, or an empty one.
pub fn hooks() -> Result<Option<Arc<dyn FoldHooks>>, CommandError> {
    Ok(config::settings()?.after_fold.hooks(read, told))
}

fn told(file: &str, why: &str) {
    tracing::warn!(file, why, "a fold was made without what `after_fold` names");
}

/// Reads a file of at most `most` bytes, or says why it cannot be used. With `within`, the file has to lie in that
/// folder.
fn read(path: &Path, within: Option<&Path>, most: u64) -> Result<Vec<u8>, String> {
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
    file.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(why)?;
    match bytes.len() as u64 > most {
        true => Err(format!("it has more than {most} bytes")),
        false => Ok(bytes),
    }
}
