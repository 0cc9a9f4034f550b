//! `[after_fold]`: reads what is put back with a fold, and says what could not be.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use midfold::core::hooks::FoldHooks;

use crate::config;
use crate::error::CommandError;
use crate::regular::unblocked;

/// The hooks of sessions, as the files say it; none where they say nothing.
pub fn hooks() -> Result<Option<Arc<dyn FoldHooks>>, CommandError> {
    Ok(config::settings()?.after_fold.hooks(read, told))
}

fn told(file: &str, why: &str) {
    tracing::warn!(file, why, "a fold was made without what `after_fold` names");
}

/// Reads a file as it is now, or says why not.
fn read(path: &Path, within: Option<&Path>, most: u64) -> Result<Vec<u8>, String> {
    let why = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => format!("it cannot be read: {}", error.kind()),
    };
    if let Some(folder) = within {
        // Links are followed: what counts is where the file lies.
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
