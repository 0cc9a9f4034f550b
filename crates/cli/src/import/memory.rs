//! Imports a transcript into a store in memory, so that one command can ask about it.

use std::path::Path;
use std::sync::Arc;

use midfold::store::MemoryStore;
use midfold_args::{FoldingArgs, MeasureArgs, PolicyArgs, StartArgs};

use super::file::{ImportSelection, importer};
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::input::InputFile;
use crate::prepare;

/// The arguments of an import without any flag. Settings and the transcript decide.
const PLAIN: StartArgs = StartArgs {
    measure: MeasureArgs { window: None, tokenizer: None, profile: None },
    folding: PolicyArgs { folding: FoldingArgs { preset: None, policy: None }, narrate: false },
    output_reserve: None,
};

/// Imports a transcript into a new store in memory. Returns the store and the ids of the sessions.
pub async fn in_memory(path: &Path) -> Result<(OpenStore, Vec<String>), CommandError> {
    let mut setup = prepare::setup(&PLAIN.measure, None)?;
    let transcript = InputFile::load(path)?.recordings(None)?;
    let host = OpenStore { store: Arc::new(MemoryStore::new()), is_memory: true };
    let mut import = importer(&host, &PLAIN, &mut setup, path)?;
    let sessions = ImportSelection::default().bring(&mut import, path, &transcript).await?;
    Ok((host, sessions.into_iter().map(|session| session.id).collect()))
}
