//! The keys of clients: who may send requests, what each key may do, and how a key is removed from a request.
//!
//! A key is 32 random bytes. Only its hash is stored, and keys are looked up by the hash, so the time of a comparison
//! reveals nothing about a key. The hash is a fast one: slow hashes make guessing passwords expensive, but 256 random
//! bits cannot be guessed, and every request would pay for the slowness.

pub(crate) mod bucket;
mod entry;
mod key;
pub(crate) mod places;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::http::request::Parts;
use midfold::formats::recall_tool::ToolOffer;

use self::bucket::Bucket;
pub use self::entry::{KeyEntry, KeyScope, KeysError};
pub use self::key::{ApiKey, KeyHash};
pub(crate) use self::places::{FoundKey, KEY_PARAMETER, take};

/// The keys that the server accepts.
#[derive(Debug, Default)]
pub struct ApiKeys {
    known: HashMap<KeyHash, Arc<KeyHolder>>,
}

/// The holder of a key.
#[derive(Debug)]
pub(crate) struct KeyHolder {
    pub entry: KeyEntry,
    bucket: Mutex<Bucket>,
}

impl ApiKeys {
    /// Reads a file of keys.
    ///
    /// # Errors
    /// If it is not valid, or two of its keys have the same name or hash.
    pub fn from_toml(text: &str) -> Result<Self, KeysError> {
        let holder = |entry: KeyEntry| {
            let bucket = Mutex::new(Bucket::full(entry.requests_per_minute));
            (entry.hash, Arc::new(KeyHolder { entry, bucket }))
        };
        Ok(Self { known: entry::read(text)?.into_iter().map(holder).collect() })
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are no keys, so that nobody may send requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// These keys in the place of `before`. A holder whose entry did not change keeps its rate limit's state.
    pub(crate) fn after(mut self, before: &Self) -> Self {
        for (hash, holder) in &mut self.known {
            let same = before.known.get(hash).filter(|old| old.entry == holder.entry);
            if let Some(old) = same {
                *holder = Arc::clone(old);
            }
        }
        self
    }

    /// Whether this holder's entry is still here, and did not change.
    pub(crate) fn has(&self, holder: &Arc<KeyHolder>) -> bool {
        // `after` keeps the holder of an entry that did not change.
        self.known.get(&holder.entry.hash).is_some_and(|known| Arc::ptr_eq(known, holder))
    }

    /// The holder of this key; `None` if the key is unknown.
    pub(crate) fn holder(&self, key: &str) -> Option<&Arc<KeyHolder>> {
        self.known.get(&KeyHash::of(key))
    }
}

impl KeyHolder {
    /// The name of the holder that sent a request; empty if the server has no keys. Conversations are never shared
    /// between names.
    pub fn name(parts: &Parts) -> String {
        Self::of(parts).map(|holder| holder.entry.name.clone()).unwrap_or_default()
    }

    /// The most bytes that the body of this request may have.
    pub fn longest_body(parts: &Parts) -> usize {
        most(Self::of(parts).and_then(|holder| holder.entry.longest_body))
    }

    /// The most messages that this request may have.
    pub fn longest_history(parts: &Parts) -> usize {
        most(Self::of(parts).and_then(|holder| holder.entry.longest_history))
    }

    /// The tools of midfold that the model gets with this request: those of the entry, or else `usual`.
    pub fn offer(parts: &Parts, usual: ToolOffer) -> ToolOffer {
        let Some(entry) = Self::of(parts).map(|holder| &holder.entry) else { return usual };
        ToolOffer {
            recall: entry.recall.unwrap_or(usual.recall),
            agent: entry.agent_tools.unwrap_or(usual.agent),
        }
    }

    fn of(parts: &Parts) -> Option<&Arc<Self>> {
        parts.extensions.get()
    }

    /// Counts one request. The error is the number of seconds until another one is allowed.
    pub fn count_request(&self, now: u64) -> Result<(), u64> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(now)
    }
}

fn most(limit: Option<u64>) -> usize {
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}
