//! What the server knows.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::Semaphore;

use super::cache::PrefixCache;
use super::settings::UpstreamSettings;
use super::state::ReplyState;
use super::stats::{AnsweredTurns, Stats};

/// One request as it came.
#[derive(Clone, Debug)]
pub struct RecordedCall {
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

impl RecordedCall {
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
pub(crate) struct SharedInner {
    pub stats: Stats,
    pub cache: PrefixCache,
    pub turns: AnsweredTurns,
    pub state: ReplyState,
    pub recorded: Vec<RecordedCall>,
    pub number: u64,
}

#[derive(Debug)]
pub(crate) struct SharedState {
    pub settings: RwLock<Arc<UpstreamSettings>>,
    pub inner: Mutex<SharedInner>,
    pub arrived: Semaphore,
    pub held: Semaphore,
}

impl SharedState {
    pub fn new(settings: UpstreamSettings) -> Self {
        Self {
            settings: RwLock::new(Arc::new(settings)),
            inner: Mutex::default(),
            arrived: Semaphore::new(0),
            held: Semaphore::new(0),
        }
    }

    pub fn settings(&self) -> Arc<UpstreamSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }
}
