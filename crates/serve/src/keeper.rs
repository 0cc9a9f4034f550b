//! The store beside the requests: one task writes what is new, and a request looks up what another
//! process may have written. A store that is away is no reason for a request to wait or to fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use midfold::formats::request::Request;
use midfold::store::{Store, StoreError};
use midfold_proxy::{MatchedRequest, Proxy, ReadRequest, RequestSender};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::Clock;

/// How long a store that failed is left alone.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the last writes may take after the server was asked to stop.
const LAST: Duration = Duration::from_secs(10);
/// How long a request waits for the store at most.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often an answer is looked for that is not there, and how long after each time.
const LOOKS: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(50);

/// Who writes conversations to a store, and looks them up.
pub(crate) struct Keeper {
    store: Arc<dyn Store>,
    proxy: Arc<Proxy>,
    clock: Clock,
    due: Notify,
    /// Counts what was written, for those who wait for it.
    written: watch::Sender<u64>,
    /// Until when the store is left alone.
    away: AtomicU64,
}

impl Keeper {
    pub fn new(store: Arc<dyn Store>, proxy: Arc<Proxy>, clock: Clock) -> Arc<Self> {
        let (due, written, away) = (Notify::new(), watch::Sender::new(0), AtomicU64::new(0));
        Arc::new(Self { store, proxy, clock, due, written, away })
    }

    /// There is something to write.
    pub fn due(&self) {
        self.due.notify_one();
    }

    /// Brings back the history that ends with the answer which a request names, where that was given before this
    /// process began, or by another one: that one may still be at writing it.
    pub async fn bring_history(&self, request: &Request, who: &RequestSender) {
        if self.is_away() || !self.proxy.wants_history(request, who) {
            return;
        }
        let looked = async {
            for _ in 0..LOOKS {
                if self.proxy.bring_history(request, who, &*self.store).await? {
                    return Ok(true);
                }
                tokio::time::sleep(BETWEEN).await;
            }
            Ok::<_, StoreError>(false)
        };
        match timeout(PATIENCE, looked).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => tracing::debug!("a request goes on from an answer that nobody knows"),
            Ok(Err(error)) => tracing::warn!(%error, "a history could not be looked up"),
            Err(_) => self.failed("it did not answer in time"),
        }
    }

    /// Brings back the conversation of a request, where the store has more of it than this process.
    pub async fn bring_back(&self, begun: &ReadRequest) {
        if self.is_away() {
            return;
        }
        let looked = self.proxy.bring_back(begun, &self.store, (self.clock)());
        match timeout(PATIENCE, looked).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a conversation could not be looked up"),
            Err(_) => self.failed("it did not answer in time"),
        }
    }

    /// Waits until a new fold is written: another process that goes on with the conversation reads it
    /// through the same fold then, and so does this one after a crash.
    pub async fn first(&self, turn: &MatchedRequest) {
        if self.is_away() {
            return;
        }
        turn.hurry();
        self.due();
        let mut written = self.written.subscribe();
        let done = written.wait_for(|_| turn.is_written() || self.is_away());
        if timeout(PATIENCE, done).await.is_err() {
            self.failed("it did not write in time");
        }
    }

    fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed) > (self.clock)()
    }

    fn failed(&self, why: &str) {
        let pause = u64::try_from(PAUSE.as_millis()).unwrap_or(u64::MAX);
        self.away.store((self.clock)().saturating_add(pause), Ordering::Relaxed);
        tracing::warn!(why, "the store is left alone for a second");
    }

    /// Writes until it is asked to stop, and then writes the rest.
    pub fn run(self: &Arc<Self>, mut stopped: watch::Receiver<bool>) -> JoinHandle<()> {
        let keeper = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = keeper.due.notified() => {}
                    _ = stopped.wait_for(|stop| *stop) => break,
                }
                if !keeper.write().await {
                    // Unwritten changes stay in memory; the next request or the next try writes them.
                    tokio::select! {
                        () = tokio::time::sleep(PAUSE) => keeper.due(),
                        _ = stopped.wait_for(|stop| *stop) => break,
                    }
                }
            }
            if timeout(LAST, keeper.write()).await.is_err() {
                tracing::warn!(left = keeper.proxy.unsaved(), "conversations were not written");
            }
        })
    }

    async fn write(&self) -> bool {
        loop {
            let saved = self.proxy.save(&*self.store, (self.clock)()).await;
            if let Err(error) = &saved {
                let left = self.proxy.unsaved();
                tracing::warn!(left, "conversations wait to be written");
                self.failed(&error.to_string());
            }
            self.written.send_modify(|written| *written += 1);
            match saved {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => return false,
            }
        }
    }
}
