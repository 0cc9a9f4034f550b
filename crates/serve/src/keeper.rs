//! Writing behind: one task writes what is new to the store, while requests go on.

use std::sync::Arc;
use std::time::Duration;

use midfold::proxy::{Begun, Proxy};
use midfold::store::Store;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::config::Clock;

/// How long a store that failed is left alone.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the last writes may take after the server was told to stop.
const LAST: Duration = Duration::from_secs(10);

/// Who writes conversations to a store.
pub(crate) struct Keeper {
    store: Arc<dyn Store>,
    proxy: Arc<Proxy>,
    clock: Clock,
    due: Notify,
}

impl Keeper {
    pub fn new(store: Arc<dyn Store>, proxy: Arc<Proxy>, clock: Clock) -> Arc<Self> {
        Arc::new(Self { store, proxy, clock, due: Notify::new() })
    }

    /// There is something to write.
    pub fn due(&self) {
        self.due.notify_one();
    }

    /// Brings back the conversation of a request, where it is in the store alone. A store that fails is
    /// no reason for the request to fail.
    pub async fn bring_back(&self, begun: &Begun) {
        if let Err(error) = self.proxy.bring_back(begun, &self.store, (self.clock)()).await {
            tracing::warn!(%error, "the conversation of a request could not be looked up");
        }
    }

    /// Writes until it is told to stop, and then what is left.
    pub fn run(self: &Arc<Self>, mut stopped: watch::Receiver<bool>) -> JoinHandle<()> {
        let keeper = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = keeper.due.notified() => {}
                    _ = stopped.wait_for(|stop| *stop) => break,
                }
                if !keeper.write().await {
                    // What is due stays in memory; the next request or the next try writes it.
                    tokio::select! {
                        () = tokio::time::sleep(PAUSE) => keeper.due(),
                        _ = stopped.wait_for(|stop| *stop) => break,
                    }
                }
            }
            if tokio::time::timeout(LAST, keeper.write()).await.is_err() {
                tracing::warn!(left = keeper.proxy.unsaved(), "conversations were not written");
            }
        })
    }

    async fn write(&self) -> bool {
        match self.proxy.save(&*self.store, (self.clock)()).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%error, left = self.proxy.unsaved(), "conversations wait to be written");
                false
            }
        }
    }
}
