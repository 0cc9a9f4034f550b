//! What all requests for sessions share: the store, what is known of each session, and those that are open.

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

/// Requests that are worked on at a time: each may read a whole session.
const AT_ONCE: usize = 8;

/// What all requests for sessions share.
pub(crate) struct Desk {
    pub store: Arc<dyn Store>,
    pub overviews: OverviewCache,
    pub opened: OpenedSessions,
    pub feed: ChangeFeed,
    /// Room for requests that are worked on.
    pub room: Arc<Semaphore>,
    /// Room for replays, which take as long as a session has requests.
    pub replays: Semaphore,
    /// The server is to stop: what never ends by itself ends then.
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
