//! Remembers the windows that requests had to fit: the newest one for each model and upstream, with its source.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use midfold::WindowSource;

/// The most models that are remembered; with more, all are forgotten.
const MOST: usize = 1_000;
/// The most characters of a model's name that are remembered.
const LONGEST_NAME: usize = 200;

/// A window that a request had to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownWindow {
    pub upstream: String,
    pub model: String,
    /// The window, in tokens.
    pub window: u64,
    pub from: WindowSource,
}

/// The windows that requests had to fit since the start.
#[derive(Default)]
pub(crate) struct KnownWindows(Mutex<BTreeMap<(String, String), (u64, WindowSource)>>);

impl KnownWindows {
    /// Notes the window that a request had to fit.
    pub fn note(&self, upstream: &str, model: &str, (window, from): (u64, WindowSource)) {
        // The name comes from a client, and may have any length.
        let key = (upstream.to_owned(), model.chars().take(LONGEST_NAME).collect());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, (window, from));
    }

    /// All of them, by upstream and model.
    pub fn all(&self) -> Vec<KnownWindow> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one =
            |((upstream, model), (window, from)): (&(String, String), &(u64, WindowSource))| {
                KnownWindow {
                    upstream: upstream.clone(),
                    model: model.clone(),
                    window: *window,
                    from: from.clone(),
                }
            };
        known.iter().map(one).collect()
    }
}
