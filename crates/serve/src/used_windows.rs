//! Which windows requests were folded for: of each model at each place, the newest one, and where that was from.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use midfold::WindowSource;

/// Models that are remembered; beyond that it begins anew.
const MOST: usize = 1_000;
/// Characters of a model's name that are remembered.
const LONGEST_NAME: usize = 200;

/// A window that a request had to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownWindow {
    pub upstream: String,
    pub model: String,
    /// In tokens.
    pub window: u64,
    pub from: WindowSource,
}

/// The windows that requests had to fit since the start.
#[derive(Default)]
pub(crate) struct KnownWindows(Mutex<BTreeMap<(String, String), (u64, WindowSource)>>);

impl KnownWindows {
    /// A request had to fit this window.
    pub fn note(&self, upstream: &str, model: &str, (window, from): (u64, WindowSource)) {
        let key = (upstream.to_owned(), model.chars().take(LONGEST_NAME).collect());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, (window, from));
    }

    /// All of them, by place and model.
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
