//! Connects requests with the store. One task writes changes, and a request reads what another process may have
//! written. No request waits long or fails because the store is unreachable.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use midfold::formats::request::Request;
use midfold::store::{Store, StoreError};
use midfold_proxy::{MatchedRequest, Proxy, ReadRequest, RequestSender};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::Clock;

/// How long the store is not used after it failed.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the last writes may take after the server was asked to stop.
const LAST: Duration = Duration::from_secs(10);
/// How long a request waits for the store at most.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often an answer is looked for that the store does not have yet, and the pause after each try.
const LOOKS: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(50);

/// Writes conversations to a store, and reads them.
pub(crate) struct Keeper {
    store: Arc<dyn Store>,
    proxy: Arc<Proxy>,
    clock: Clock,
    due: Notify,
    /// A counter of writes, for requests that wait for one.
    written: watch::Sender<u64>,
    /// The time in milliseconds until which the store is not used, after it failed.
    away: AtomicU64,
    /// Why the last write failed; `None` since one succeeded.
    trouble: Mutex<Option<String>>,
}

impl Keeper {
    pub fn new(store: Arc<dyn Store>, proxy: Arc<Proxy>, clock: Clock) -> Arc<Self> {
        let (due, written, away) = (Notify::new(), watch::Sender::new(0), AtomicU64::new(0));
        let trouble = Mutex::default();
        Arc::new(Self { store, proxy, clock, due, written, away, trouble })
    }

    /// Why conversations cannot be stored: the last write failed, and what it should have written still waits.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Wakes the writing task.
    pub fn due(&self) {
        self.due.notify_one();
    }

    /// Loads the history that ends with the answer which a request names, if the answer was given before a restart or
    /// by another process. That process may still be writing it, so this tries several times.
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

    /// Loads the conversation of a request, if the store has more of it than this process.
    pub async fn bring_back(&self, begun: &ReadRequest) {
        if self.is_away() {
            return;
        }
        // Each look at the store has a limit: without the stored folds a request is longer, but it is not held up.
        let looked = self.proxy.bring_back(begun, &self.store, (self.clock)());
        match timeout(PATIENCE, looked).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a conversation could not be looked up"),
            Err(_) => self.failed("it did not answer in time"),
        }
    }

    /// Waits until a new fold is written. If another process continues the conversation, or this one does after a
    /// crash, it then uses the same fold, and the prompt stays the same.
    pub async fn first(&self, turn: &MatchedRequest) {
        if self.is_away() {
            return;
        }
        turn.hurry();
        self.due();
        let mut written = self.written.subscribe();
        // `wait_for` asks at once, so a write that ended before `subscribe` is not missed.
        let write = written.wait_for(|_| turn.is_written() || self.is_away());
        if timeout(PATIENCE, write).await.is_err() {
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

    /// Starts the task that writes until it is asked to stop, and then writes the rest.
    pub fn run(self: &Arc<Self>, mut stopped: watch::Receiver<bool>) -> JoinHandle<()> {
        let keeper = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = keeper.due.notified() => {}
                    _ = stopped.wait_for(|stop| *stop) => break,
                }
                if !keeper.write().await {
                    // Changes that are not written stay in memory; the next request or the next try writes them.
                    tokio::select! {
                        () = tokio::time::sleep(PAUSE) => keeper.due(),
                        _ = stopped.wait_for(|stop| *stop) => break,
                    }
                }
            }
            // One more try, also if the store was away: nobody writes the rest after this.
            if timeout(LAST, keeper.write()).await.is_err() {
                tracing::warn!(left = keeper.proxy.unsaved(), "conversations were not written");
            }
        })
    }

    /// Writes until nothing is left. Returns false if the store failed.
    async fn write(&self) -> bool {
        loop {
            let saved = self.proxy.save(&*self.store, (self.clock)()).await;
            if let Err(error) = &saved {
                let left = self.proxy.unsaved();
                tracing::warn!(left, "conversations wait to be written");
                self.set_trouble(Some(error.to_string()));
                self.failed(&error.to_string());
            }
            // After a failure, too: requests that wait for a write then see that the store is away, and go on.
            self.written.send_modify(|written| *written += 1);
            match saved {
                Ok(true) => self.set_trouble(None),
                Ok(false) => return true,
                Err(_) => return false,
            }
        }
    }
}
