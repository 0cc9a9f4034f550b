//! Remembers counts by the hash of the text, so that the same text is counted once, in whatever message it is.

use std::sync::{Arc, Mutex, PoisonError};

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};
use rustc_hash::FxHashMap;

/// Shorter texts, in bytes, are counted each time, because hashing them costs as much as counting.
const MIN_BYTES: usize = 64;

/// A counter that remembers its counts. It pays around an exact counter, which counts 50 MB/s where hashing runs at
/// 2 GB/s. It does not pay around an estimate.
///
/// Holds at most twice the given number of counts, with 20 bytes each in tables that are half empty at worst. When the young generation is full, it replaces
/// the old one, whose counts are dropped. A count of the old generation that is used again moves to the young one.
pub struct MemoCounter<C: Counter + ?Sized> {
    inner: Arc<C>,
    /// Counts in each generation.
    entries: usize,
    state: Mutex<Generations>,
}

/// Two tables of counts. The old one is dropped as a whole, which is cheaper than tracking single uses.
#[derive(Default)]
struct Generations {
    young: FxHashMap<[u8; 16], u32>,
    old: FxHashMap<[u8; 16], u32>,
}

impl Generations {
    /// The count of a text; `None` where it is not remembered. A count of the old generation moves to the young one.
    fn get(&mut self, key: [u8; 16], entries: usize) -> Option<u32> {
        if let Some(&tokens) = self.young.get(&key) {
            return Some(tokens);
        }
        let tokens = self.old.remove(&key)?;
        self.put(key, tokens, entries);
        Some(tokens)
    }

    /// Remembers a count. A full young generation becomes the old one.
    fn put(&mut self, key: [u8; 16], tokens: u32, entries: usize) {
        if self.young.len() >= entries {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, tokens);
    }
}

/// Counts in each of the two generations of [`MemoCounter::around`]. A table of 32,768 places, which takes 0.7 MB, holds
/// so many.
const ENTRIES: usize = 7 << 12;

impl MemoCounter<dyn Counter> {
    /// The counter with a memo around it, where that pays: around an exact counter.
    ///
    /// ```
    /// use midfold_core::{TextKind, Counter};
    /// use midfold_tokens::{MemoCounter, by_name};
    /// let counter = MemoCounter::around(by_name("o200k")?);
    /// assert_eq!(counter.name(), "o200k");
    /// assert_eq!(counter.count("Keep the ends, fold the middle.", TextKind::Prose), 8);
    /// # Ok::<(), midfold_tokens::CounterError>(())
    /// ```
    #[must_use]
    pub fn around(counter: Arc<dyn Counter>) -> Arc<dyn Counter> {
        if counter.is_exact() { Arc::new(Self::new(counter, ENTRIES)) } else { counter }
    }
}

impl<C: Counter + ?Sized> MemoCounter<C> {
    /// A memo with `entries` counts in each of its two generations (at least one).
    #[must_use]
    pub fn new(inner: Arc<C>, entries: usize) -> Self {
        Self { inner, entries: entries.max(1), state: Mutex::default() }
    }

    /// How many counts are remembered now.
    #[must_use]
    pub fn len(&self) -> usize {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.young.len() + state.old.len()
    }

    /// Whether no count is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The key of a text: 128 bits of blake3 over the kind of content and the text.
fn key(text: &str, content: TextKind) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[content as u8]);
    hasher.update(text.as_bytes());
    let mut half = [0; 16];
    hasher.finalize_xof().fill(&mut half);
    half
}

impl<C: Counter + ?Sized> Counter for MemoCounter<C> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn count(&self, text: &str, content: TextKind) -> u32 {
        if text.len() < MIN_BYTES {
            return self.inner.count(text, content);
        }
        let key = key(text, content);
        let known =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).get(key, self.entries);
        if let Some(tokens) = known {
            return tokens;
        }
        // Counting happens outside the lock. Two threads may count the same text, with the same result.
        let tokens = self.inner.count(text, content);
        self.state.lock().unwrap_or_else(PoisonError::into_inner).put(key, tokens, self.entries);
        tokens
    }

    fn media(&self, media: &MediaRef) -> u32 {
        self.inner.media(media)
    }

    fn per_message(&self) -> u32 {
        self.inner.per_message()
    }

    fn is_exact(&self) -> bool {
        self.inner.is_exact()
    }
}
