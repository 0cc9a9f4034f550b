//! The state that all requests of the API share: the store, what is known of its sessions, and the open ones.

mod feed;
mod open_sessions;

use std::sync::Arc;

use midfold::core::hooks::FoldHooks;
use midfold::store::Store;
use midfold::view::OverviewCache;
use tokio::sync::{Semaphore, watch};

use feed::ChangeFeed;
pub(crate) use feed::SessionChange;
pub(crate) use open_sessions::LockedSession;
use open_sessions::OpenedSessions;

/// How many requests are handled at a time. Each may load a whole session.
const AT_ONCE: usize = 8;

/// The state that all requests of the API share.
pub(crate) struct Desk {
    pub store: Arc<dyn Store>,
    pub overviews: OverviewCache,
    pub opened: OpenedSessions,
    pub feed: ChangeFeed,
    /// Permits for requests that are being handled.
    pub room: Arc<Semaphore>,
    /// The permit for a replay, which takes long for a long session: one runs at a time.
    pub replays: Semaphore,
    /// Becomes true when the server stops. Streams without an end then end.
    pub stopped: watch::Receiver<bool>,
}

impl Desk {
    pub fn new(
        store: Arc<dyn Store>,
        hooks: Option<Arc<dyn FoldHooks>>,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        Self {
            overviews: OverviewCache::new(Arc::clone(&store)),
            opened: OpenedSessions::new(hooks),
            feed: ChangeFeed::new(Arc::clone(&store), stopped.clone()),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            replays: Semaphore::new(1),
            stopped,
            store,
        }
    }
}
