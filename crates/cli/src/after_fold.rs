//! `[after_fold]`: what the files of settings put back with a fold, and a warning of what could not be.

use std::sync::Arc;

use midfold::core::hooks::FoldHooks;

use crate::config;
use crate::error::CommandError;

/// The hooks of sessions, as the files say it; none where they say nothing.
pub fn hooks() -> Result<Option<Arc<dyn FoldHooks>>, CommandError> {
    Ok(config::settings()?.after_fold.hooks(told))
}

fn told(file: &str, why: &str) {
    tracing::warn!(file, why, "a fold was made without what `after_fold` names");
}
