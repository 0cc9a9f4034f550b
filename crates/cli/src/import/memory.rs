//! A transcript imported for one question, into a store that ends with the command.

use std::path::Path;
use std::sync::Arc;

use midfold::store::MemoryStore;
use midfold_args::{FoldingArgs, MeasureArgs, PolicyArgs, StartArgs};

use super::file::{ImportSelection, importer};
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::input::InputFile;
use crate::prepare;

/// Nothing said by flags: settings and the transcript say the rest.
const PLAIN: StartArgs = StartArgs {
    measure: MeasureArgs { window: None, tokenizer: None, profile: None },
    folding: PolicyArgs { folding: FoldingArgs { preset: None, policy: None }, narrate: false },
    output_reserve: None,
};

/// The transcript as sessions of a store of its own, and their ids.
pub async fn in_memory(path: &Path) -> Result<(OpenStore, Vec<String>), CommandError> {
    let mut setup = prepare::setup(&PLAIN.measure, None)?;
    let found = InputFile::load(path)?.recordings(None)?;
    let host = OpenStore { store: Arc::new(MemoryStore::new()), is_memory: true };
    let mut import = importer(&host, &PLAIN, &mut setup, path)?;
    let done = ImportSelection::default().bring(&mut import, path, &found).await?;
    Ok((host, done.into_iter().map(|done| done.id).collect()))
}
