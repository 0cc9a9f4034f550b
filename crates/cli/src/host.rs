//! What stored sessions need of the outside: a store, a clock, randomness, a runtime.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use midfold::store::{self, Millis, Store, StoredError, StoredSession};
use midfold::view::OverviewCache;
use midfold::{Door, advise_in, advise_open};
use midfold_args::StoreAt;

use crate::after_fold;
use crate::config;
use crate::env::{self, STORE};
use crate::error::CommandError;
use crate::runtime::now;

/// An open store.
#[derive(Clone)]
pub struct OpenStore {
    /// What holds the sessions.
    pub store: Arc<dyn Store>,
    /// Nothing outlives the command.
    pub is_memory: bool,
}

/// Whether a command may make the store that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCreation {
    /// It may.
    Yes,
    /// It may not: where there is none, that is an error.
    No,
}

impl OpenStore {
    /// Opens the store that was named, or the one that settings name.
    pub async fn open(at: &StoreAt, make: StoreCreation) -> Result<Self, CommandError> {
        let url = url_of(at)?;
        if let Some(path) = sqlite_path(&url) {
            check(&path, make)?;
        }
        Self::of(&url).await
    }

    /// Opens it, unless nobody made it yet.
    pub async fn open_if_there(at: &StoreAt) -> Result<Option<Self>, CommandError> {
        let url = url_of(at)?;
        match sqlite_path(&url) {
            Some(path) if !path.as_os_str().is_empty() && !path.exists() => Ok(None),
            _ => Self::of(&url).await.map(Some),
        }
    }

    async fn of(url: &str) -> Result<Self, CommandError> {
        let store = store::open(url).await;
        let store = store.map_err(|error| advise_open(url, error, Door::Command))?;
        Ok(Self { store, is_memory: url.starts_with("memory") })
    }

    /// Its sessions as every door shows them.
    pub fn overviews(&self) -> OverviewCache {
        OverviewCache::new(self.store.clone())
    }

    /// A session, or which one was perhaps meant.
    pub async fn session(&self, id: &str) -> Result<StoredSession, CommandError> {
        match StoredSession::open(self.store.clone(), id).await {
            Ok(stored) => Ok(stored.with_hooks(after_fold::hooks()?)),
            Err(error) => Err(self.advise(error).await),
        }
    }

    /// What went wrong with a session of it.
    pub async fn advise(&self, error: StoredError) -> CommandError {
        advise_in(&*self.store, error, Door::Command).await.into()
    }
}

/// `--store`, the environment, or the file in the user's data folder.
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

/// The path of a SQLite store.
pub fn sqlite_path(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    Some(PathBuf::from(rest.strip_prefix("//").unwrap_or(rest)))
}

/// A name with a slip in it must not make an empty store and find nothing there.
fn check(path: &Path, make: StoreCreation) -> Result<(), CommandError> {
    if path.is_dir() {
        let inside = path.join("midfold.db");
        return Err(CommandError::failed(format!(
            "{} is a directory, not a store",
            path.display()
        ))
        .hint(format!("name a file in it: --store sqlite:{}", inside.display())));
    }
    if make == StoreCreation::No && !path.as_os_str().is_empty() && !path.exists() {
        return Err(CommandError::failed(format!("there is no store at {}", path.display()))
            .hint("`midfold session new` or `midfold import` makes it; or name another --store"));
    }
    Ok(())
}

/// Not to be guessed from the number before, and not for secrets.
pub fn random() -> u64 {
    RandomState::new().hash_one(now())
}

/// A new id: 26 letters and digits that sort by the time they were made (10 of the milliseconds,
/// 16 random ones).
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
