//! What changes in the store, as it does. The store is asked four times a second while somebody listens, so that
//! the changes of other processes are told as well.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use midfold::store::{NewestQuery, SessionActivity, Store, StoreError};
use midfold::view::folds_in_force;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Mutex, broadcast, watch};

/// How often the store is asked.
const EVERY: Duration = Duration::from_millis(250);
/// Sessions that may change between two looks.
const AT_ONCE: u32 = 256;
/// Changes that a slow listener may be behind.
const BEHIND: usize = 1_024;

/// What a session has after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SessionChange {
    #[serde(skip)]
    kind: &'static str,
    #[serde(skip)]
    pub owner: Option<String>,
    /// Its id.
    pub session: String,
    /// Counts the changes of the store: larger is later.
    tick: u64,
    /// Number of messages.
    events: u64,
    /// Tokens of all messages.
    tokens: u64,
    /// Number of folds that were in force.
    folds: u64,
    /// Number of recorded calls.
    calls: u64,
    /// The number of the fold that is read now.
    active: Option<u64>,
    /// When it changed, in milliseconds since 1970.
    changed: u64,
}

impl SessionChange {
    /// `folds`: how many were in force.
    fn of(kind: &'static str, it: &SessionActivity, folds: u64) -> Self {
        Self {
            kind,
            owner: it.owner.clone(),
            session: it.id.clone(),
            tick: it.tick,
            events: it.head,
            tokens: it.tokens,
            folds,
            calls: it.calls,
            active: it.active_number,
            changed: it.changed,
        }
    }

    /// As it goes over the wire.
    pub fn frame(&self) -> Bytes {
        let data = serde_json::to_string(self).unwrap_or_default();
        format!("event: {}\ndata: {data}\n\n", self.kind).into()
    }
}

/// What changes, for all who listen.
pub(crate) struct ChangeFeed {
    store: Arc<dyn Store>,
    told: broadcast::Sender<SessionChange>,
    /// Whether somebody looks at the store. Held while one begins or ends to: whoever comes meanwhile waits.
    looks: Arc<Mutex<bool>>,
    stopped: watch::Receiver<bool>,
}

impl ChangeFeed {
    pub fn new(store: Arc<dyn Store>, stopped: watch::Receiver<bool>) -> Self {
        let (told, _) = broadcast::channel(BEHIND);
        Self { store, told, looks: Arc::default(), stopped }
    }

    /// A session was deleted: nothing of it is left that would show.
    pub fn deleted(&self, it: &SessionActivity) {
        let _ = self.told.send(SessionChange::of("delete", it, 0));
    }

    /// Changes from now on. Whoever comes first has the store looked at.
    pub async fn listen(&self) -> Result<broadcast::Receiver<SessionChange>, StoreError> {
        let mut looks = self.looks.lock().await;
        let listener = self.told.subscribe();
        if !*looks {
            let before = look(&*self.store).await?;
            let before = before.into_iter().map(|it| (it.id.clone(), (it, None))).collect();
            let looking = StoreWatch {
                store: Arc::clone(&self.store),
                told: self.told.clone(),
                looks: Arc::clone(&self.looks),
                stopped: self.stopped.clone(),
                before,
            };
            tokio::spawn(looking.run());
            *looks = true;
        }
        Ok(listener)
    }
}

async fn look(store: &dyn Store) -> Result<Vec<SessionActivity>, StoreError> {
    store.newest(&NewestQuery { limit: AT_ONCE, ..NewestQuery::default() }).await
}

/// Looks at the store until nobody listens any more.
struct StoreWatch {
    store: Arc<dyn Store>,
    told: broadcast::Sender<SessionChange>,
    looks: Arc<Mutex<bool>>,
    stopped: watch::Receiver<bool>,
    /// What there was, and how many folds of it were in force, once that was asked.
    before: HashMap<String, (SessionActivity, Option<u64>)>,
}

impl StoreWatch {
    async fn run(mut self) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                _ = self.stopped.wait_for(|stop| *stop) => return,
            }
            if self.is_alone().await {
                return;
            }
            match look(&*self.store).await {
                Ok(now) => self.tell(now).await,
                Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
            }
        }
    }

    /// Whether nobody listens any more. Then whoever comes next looks again.
    async fn is_alone(&self) -> bool {
        let mut looks = self.looks.lock().await;
        *looks = self.told.receiver_count() > 0;
        !*looks
    }

    /// Tells what is other than before, the oldest change first.
    async fn tell(&mut self, now: Vec<SessionActivity>) {
        for it in now.into_iter().rev() {
            let before = self.before.get(&it.id);
            if before.is_some_and(|(before, _)| before.tick == it.tick) {
                continue;
            }
            let known = before.filter(|(before, _)| has_same_folds(before, &it));
            let folds = match known.and_then(|(_, folds)| *folds) {
                Some(folds) => folds,
                // It was deleted meanwhile: the next look tells.
                None => folds_in_force(&*self.store, &it).await.unwrap_or(it.folds),
            };
            let kind = kind(before.map(|(before, _)| before), &it);
            let _ = self.told.send(SessionChange::of(kind, &it, folds));
            self.before.insert(it.id.clone(), (it, Some(folds)));
        }
    }
}

/// Whether the folds, and the one that is read, are the same.
fn has_same_folds(before: &SessionActivity, now: &SessionActivity) -> bool {
    (before.folds, before.active) == (now.folds, now.active)
}

fn kind(before: Option<&SessionActivity>, now: &SessionActivity) -> &'static str {
    let Some(before) = before else { return if now.head == 0 { "new" } else { "append" } };
    // A fold is there before it is read.
    if now.folds > before.folds || now.active_number > before.active_number {
        "fold"
    } else if now.active != before.active {
        "undo"
    } else if now.head > before.head {
        "append"
    } else if now.calls > before.calls {
        "call"
    } else {
        "change"
    }
}
