//! A transcript imported for one question, into a store that ends with the command.

use std::path::Path;
use std::sync::Arc;

use midfold::store::MemoryStore;
use midfold_args::{Folding, Measure, Narrated, Start};

use super::file::{Wanted, importer};
use crate::error::CommandError;
use crate::host::Host;
use crate::input::Input;
use crate::prepare;

/// Nothing said by flags: settings and the transcript say the rest.
const PLAIN: Start = Start {
    measure: Measure { window: None, tokenizer: None, profile: None },
    folding: Narrated { folding: Folding { preset: None, policy: None }, narrate: false },
    output_reserve: None,
};

/// The transcript as sessions of a store of its own, and their ids.
pub async fn in_memory(path: &Path) -> Result<(Host, Vec<String>), CommandError> {
    let mut setup = prepare::setup(&PLAIN.measure, None)?;
    let found = Input::load(path)?.recordings(None)?;
    let host = Host { store: Arc::new(MemoryStore::new()), is_memory: true };
    let mut import = importer(&host, &PLAIN, &mut setup, path)?;
    let done = Wanted::default().bring(&mut import, path, &found).await?;
    Ok((host, done.into_iter().map(|done| done.id).collect()))
}
