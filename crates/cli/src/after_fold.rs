//! `[after_fold]` of the settings: makes the hooks that put the files back with each fold, and logs a warning for a file
//! that cannot be read.

use std::sync::Arc;

use midfold::core::hooks::FoldHooks;

use crate::config;
use crate::error::CommandError;

/// The hooks that the `[after_fold]` settings ask for. `None` where the settings have no such table, or an empty one.
pub fn hooks() -> Result<Option<Arc<dyn FoldHooks>>, CommandError> {
    Ok(config::settings()?.after_fold.hooks(warn_missing))
}

fn warn_missing(file: &str, why: &str) {
    tracing::warn!(file, why, "a fold was made without what `after_fold` names");
}
