//! What all requests for sessions share: the store, what is known of each session, and those that are open.

mod feed;
mod opened;

use std::sync::Arc;

use midfold::store::Store;
use midfold::view::Overviews;
use tokio::sync::{Semaphore, watch};

pub(crate) use feed::Change;
use feed::Feed;
pub(crate) use opened::Held;
use opened::Opened;

/// Requests that are worked on at a time: each may read a whole session.
const AT_ONCE: usize = 8;

/// What all requests for sessions share.
pub(crate) struct Desk {
    pub store: Arc<dyn Store>,
    pub overviews: Overviews,
    pub opened: Opened,
    pub feed: Feed,
    /// Room for requests that are worked on.
    pub room: Arc<Semaphore>,
    /// Room for replays, which take as long as a session has requests.
    pub replays: Semaphore,
    /// The server is to stop: what never ends by itself ends then.
    pub stopped: watch::Receiver<bool>,
}

impl Desk {
    pub fn new(store: Arc<dyn Store>, stopped: watch::Receiver<bool>) -> Self {
        Self {
            overviews: Overviews::new(Arc::clone(&store)),
            opened: Opened::default(),
            feed: Feed::new(Arc::clone(&store), stopped.clone()),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            replays: Semaphore::new(1),
            stopped,
            store,
        }
    }
}
