//! Who may ask: keys, what each of them may do, and what is done with the one of a request.
//!
//! A key is 32 random bytes. Only its hash is kept, and it is looked up by that: what a comparison takes
//! says nothing of a key. The hash is a fast one. Slow ones make guessing a password cost more; there is
//! nothing to guess in 256 random bits, and every request would pay for it.

pub(crate) mod bucket;
mod entry;
mod key;
pub(crate) mod places;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::http::request::Parts;

use self::bucket::Bucket;
pub use self::entry::{KeyEntry, KeyScope, KeysError};
pub use self::key::{ApiKey, KeyHash};
pub(crate) use self::places::take;

/// The keys that are taken.
#[derive(Debug, Default)]
pub struct ApiKeys {
    known: HashMap<KeyHash, Arc<KeyHolder>>,
}

/// Whoever has a key.
#[derive(Debug)]
pub(crate) struct KeyHolder {
    pub entry: KeyEntry,
    bucket: Mutex<Bucket>,
}

impl ApiKeys {
    /// Reads a file of keys.
    ///
    /// # Errors
    /// When it is none, or two of its keys have one name or one hash.
    pub fn from_toml(text: &str) -> Result<Self, KeysError> {
        let holder = |entry: KeyEntry| {
            let bucket = Mutex::new(Bucket::full(entry.requests_per_minute));
            (entry.hash, Arc::new(KeyHolder { entry, bucket }))
        };
        Ok(Self { known: entry::read(text)?.into_iter().map(holder).collect() })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nobody may ask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// These, after `before`: whoever was there has asked as often as before.
    pub(crate) fn after(mut self, before: &Self) -> Self {
        for (hash, holder) in &mut self.known {
            let same = before.known.get(hash).filter(|old| old.entry == holder.entry);
            if let Some(old) = same {
                *holder = Arc::clone(old);
            }
        }
        self
    }

    /// Who has this key.
    pub(crate) fn holder(&self, key: &str) -> Option<&Arc<KeyHolder>> {
        self.known.get(&KeyHash::of(key))
    }
}

impl KeyHolder {
    /// Whose a request is: its conversations are found by nobody else. Nobody's where no keys are set.
    pub fn name(parts: &Parts) -> String {
        Self::of(parts).map(|holder| holder.entry.name.clone()).unwrap_or_default()
    }

    /// Bytes that the body of a request may have.
    pub fn longest_body(parts: &Parts) -> usize {
        most(Self::of(parts).and_then(|holder| holder.entry.longest_body))
    }

    /// Messages that a request may have.
    pub fn longest_history(parts: &Parts) -> usize {
        most(Self::of(parts).and_then(|holder| holder.entry.longest_history))
    }

    fn of(parts: &Parts) -> Option<&Arc<Self>> {
        parts.extensions.get()
    }

    /// One request at this time. Refused with the seconds until there may be one.
    pub fn asks(&self, now: u64) -> Result<(), u64> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(now)
    }
}

fn most(limit: Option<u64>) -> usize {
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}
