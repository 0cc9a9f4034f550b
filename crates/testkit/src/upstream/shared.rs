//! The state that all connections share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::Semaphore;

use super::cache::PrefixCache;
use super::settings::UpstreamSettings;
use super::state::ReplyState;
use super::stats::{AnsweredTurns, Stats};

/// One request as the server received it.
#[derive(Clone, Debug)]
pub struct RecordedCall {
    /// The method, such as `POST`.
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// Header names in lower case, with their values, in order.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The status of the answer. 0 for a reset connection.
    pub status: u16,
}

impl RecordedCall {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON. `null` where it is not JSON.
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
    pub releases: Semaphore,
}

impl SharedState {
    pub fn new(settings: UpstreamSettings) -> Self {
        Self {
            settings: RwLock::new(Arc::new(settings)),
            inner: Mutex::default(),
            arrived: Semaphore::new(0),
            releases: Semaphore::new(0),
        }
    }

    pub fn settings(&self) -> Arc<UpstreamSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }
}
