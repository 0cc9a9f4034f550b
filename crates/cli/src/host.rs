//! Opens stores for the command, and gives it randomness and new ids.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use midfold::store::{self, Millis, Store, StoreUrl, StoredError, StoredSession};
use midfold::view::OverviewCache;
use midfold::{Door, advise_in, advise_open, session_named};
use midfold_args::StoreAt;

use crate::after_fold;
use crate::config;
use crate::env::{self, STORE};
use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::runtime::now;

/// An open store.
#[derive(Clone)]
pub struct OpenStore {
    /// The store that holds the sessions.
    pub store: Arc<dyn Store>,
    /// The store is in memory, so nothing in it outlives the command.
    pub is_memory: bool,
}

/// Whether a command may make a store that does not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCreation {
    /// A store that does not exist is made.
    Yes,
    /// A store that does not exist is an error.
    No,
}

impl OpenStore {
    /// Opens the store that a flag, a variable or the settings name, or else the default one.
    pub async fn open(at: &StoreAt, make: StoreCreation) -> Result<Self, CommandError> {
        let url = url_of(at)?;
        if let Some(path) = sqlite_path(&url) {
            check(&path, make)?;
        }
        Self::of(&url).await
    }

    /// Opens the store. `None` where its file does not exist yet.
    pub async fn open_if_there(at: &StoreAt) -> Result<Option<Self>, CommandError> {
        match sqlite_path(&url_of(at)?) {
            Some(path) if !path.exists() => Ok(None),
            _ => Self::open(at, StoreCreation::No).await.map(Some),
        }
    }

    async fn of(url: &str) -> Result<Self, CommandError> {
        let store = store::open(url).await;
        let store = store.map_err(|error| advise_open(url, error, Door::Command))?;
        Ok(Self { store, is_memory: matches!(StoreUrl::read(url), Ok(StoreUrl::Memory)) })
    }

    /// Reads sessions in the form that all doors show.
    pub fn overviews(&self) -> OverviewCache {
        OverviewCache::new(self.store.clone())
    }

    /// Opens a session. If there is none with this id, the error names the one that was perhaps meant.
    pub async fn session(&self, id: &str) -> Result<StoredSession, CommandError> {
        match StoredSession::open(self.store.clone(), id).await {
            Ok(stored) => Ok(stored.with_hooks(after_fold::hooks()?)),
            Err(error) => Err(self.advise(error).await),
        }
    }

    /// The id of the session that a word names. A note says which one, where the word is not its whole id.
    pub async fn id(&self, word: &str, output: &Output) -> Result<String, CommandError> {
        let id = session_named(&self.store, word, Door::Command).await?;
        if id != word {
            let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
            output.stderr(&format!("{note} the session is {id}\n"));
        }
        Ok(id)
    }

    /// Turns an error of a stored session into one of the command, with hints.
    pub async fn advise(&self, error: StoredError) -> CommandError {
        advise_in(&*self.store, error, Door::Command).await.into()
    }
}

/// The URL of the store: from `--store`, the environment, the settings, or else the file in the user's data folder.
pub fn url_of(at: &StoreAt) -> Result<String, CommandError> {
    if let Some(url) = at.store.clone().or_else(env::store) {
        return Ok(url);
    }
    if let Some(url) = config::store()? {
        return Ok(url);
    }
    match env::data_folder() {
        Some(data) => Ok(format!("sqlite:{}", data.join("midfold.db").display())),
        None => Err(CommandError::usage("there is no data folder to keep sessions in")
            .hint(format!("name a store: --store sqlite:PATH, or set {STORE}"))),
    }
}

/// The path in the URL of a SQLite store. `None` for other stores, and for a URL that opening the store refuses.
pub fn sqlite_path(url: &str) -> Option<PathBuf> {
    match StoreUrl::read(url) {
        Ok(StoreUrl::Sqlite(path)) => Some(path.to_owned()),
        _ => None,
    }
}

/// Refuses a path that cannot be a store. Without this, a typing error in a path would make an empty store, and the
/// command would find nothing in it.
fn check(path: &Path, make: StoreCreation) -> Result<(), CommandError> {
    if path.is_dir() {
        let inside = path.join("midfold.db");
        return Err(CommandError::failed(format!(
            "{} is a directory, not a store",
            path.display()
        ))
        .hint(format!("name a file in it: --store sqlite:{}", inside.display())));
    }
    if make == StoreCreation::No && !path.exists() {
        return Err(CommandError::failed(format!("there is no store at {}", path.display()))
            .hint("`midfold session new` or `midfold import` makes it; or name another --store"));
    }
    Ok(())
}

/// A number that does not follow from earlier ones. It is not good enough for secrets.
pub fn random() -> u64 {
    RandomState::new().hash_one(now())
}

/// A new id of 26 letters and digits: 10 hold the time in milliseconds and come first, so that ids sort by time; 16 are
/// random.
pub fn new_id(now: Millis, random: [u64; 2]) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let digits = |value: u64, count: u32| {
        (0..count).rev().map(move |at| {
            let five = usize::try_from(value >> (5 * at) & 31).unwrap_or(0);
            char::from(DIGITS[five])
        })
    };
    digits(now, 10).chain(digits(random[0], 8)).chain(digits(random[1], 8)).collect()
}
