//! What the server knows.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::Semaphore;

use super::cache::Cache;
use super::settings::Settings;
use super::state::State;
use super::stats::{Stats, Turns};

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Header names in lower case, and their values, in order.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The status of its answer; 0 for a reset.
    pub status: u16,
}

impl Recorded {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub stats: Stats,
    pub cache: Cache,
    pub turns: Turns,
    pub state: State,
    pub recorded: Vec<Recorded>,
    pub number: u64,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub settings: RwLock<Arc<Settings>>,
    pub inner: Mutex<Inner>,
    pub arrived: Semaphore,
    pub held: Semaphore,
}

impl Shared {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings: RwLock::new(Arc::new(settings)),
            inner: Mutex::default(),
            arrived: Semaphore::new(0),
            held: Semaphore::new(0),
        }
    }

    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }
}
