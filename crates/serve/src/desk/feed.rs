//! The feed of changes in a store. While somebody listens, the store is read four times a second, so that changes by
//! other processes are seen, too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use midfold::store::{NewestQuery, SessionActivity, Store, StoreError};
use midfold::view::folds_in_force;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{Mutex, broadcast, watch};

/// How often the store is read.
const EVERY: Duration = Duration::from_millis(250);
/// How many changed sessions are read at once.
const AT_ONCE: u32 = 256;
/// How many changes a slow listener may lag behind before it misses some.
const BEHIND: usize = 1_024;

/// The figures of a session after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SessionChange {
    #[serde(skip)]
    kind: &'static str,
    #[serde(skip)]
    pub owner: Option<String>,
    /// The id of the session.
    pub session: String,
    /// The number of the change among all changes of the store; larger is later.
    tick: u64,
    /// The number of messages.
    events: u64,
    /// Counted tokens of all messages.
    tokens: u64,
    /// The number of folds that were in force.
    folds: u64,
    /// The number of recorded calls.
    calls: u64,
    /// The number of the active fold; null if nothing is folded.
    active: Option<u64>,
    /// When it changed, in milliseconds since 1970.
    changed: u64,
}

impl SessionChange {
    /// `folds` is the number of folds that were in force.
    fn of(kind: &'static str, activity: &SessionActivity, folds: u64) -> Self {
        Self {
            kind,
            owner: activity.owner.clone(),
            session: activity.id.clone(),
            tick: activity.tick,
            events: activity.head,
            tokens: activity.tokens,
            folds,
            calls: activity.calls,
            active: activity.active_number,
            changed: activity.changed,
        }
    }

    /// The change as a server-sent event.
    pub fn frame(&self) -> Bytes {
        let data = serde_json::to_string(self).unwrap_or_default();
        format!("event: {}\ndata: {data}\n\n", self.kind).into()
    }
}

/// The feed of changes, for all listeners.
pub(crate) struct ChangeFeed {
    store: Arc<dyn Store>,
    changes: broadcast::Sender<SessionChange>,
    /// Whether a task watches the store. The lock is held while that changes, so that a new listener waits, and there
    /// is never more than one task.
    looks: Arc<Mutex<bool>>,
    stopped: watch::Receiver<bool>,
}

impl ChangeFeed {
    pub fn new(store: Arc<dyn Store>, stopped: watch::Receiver<bool>) -> Self {
        let (changes, _) = broadcast::channel(BEHIND);
        Self { store, changes, looks: Arc::default(), stopped }
    }

    /// Reports a session that was deleted here. Reading the store would not show that.
    pub fn report_deletion(&self, activity: &SessionActivity) {
        // An error means that nobody listens.
        let _ = self.changes.send(SessionChange::of("delete", activity, 0));
    }

    /// Subscribes to changes from now on. The first listener starts the task that watches the store.
    pub async fn listen(&self) -> Result<broadcast::Receiver<SessionChange>, StoreError> {
        let mut looks = self.looks.lock().await;
        // Under the lock, as `is_alone` counts the listeners: so the task cannot end between its count and this
        // subscription.
        let listener = self.changes.subscribe();
        if !*looks {
            let newest = newest(&*self.store, None).await?;
            let (seen, since) =
                newest.first().map_or((0, 0), |activity| (activity.tick, activity.changed));
            // A page that is not full has all sessions of the store.
            let oldest = newest.get(AT_ONCE as usize - 1).map(|activity| activity.tick);
            // Folds in force are not counted here: that reads the folds of each session, and most will not change.
            let before = newest
                .into_iter()
                .map(|activity| (activity.id.clone(), (activity, None)))
                .collect();
            let looking = StoreWatch {
                store: Arc::clone(&self.store),
                changes: self.changes.clone(),
                looks: Arc::clone(&self.looks),
                stopped: self.stopped.clone(),
                before,
                seen,
                oldest,
                since,
            };
            tokio::spawn(looking.run());
            *looks = true;
        }
        Ok(listener)
    }
}

/// A page of sessions by their last change, the newest first; those before a tick where one is given.
async fn newest(
    store: &dyn Store,
    before: Option<u64>,
) -> Result<Vec<SessionActivity>, StoreError> {
    store.newest(&NewestQuery { before, limit: AT_ONCE, ..NewestQuery::default() }).await
}

/// The task that watches the store until nobody listens any more.
struct StoreWatch {
    store: Arc<dyn Store>,
    changes: broadcast::Sender<SessionChange>,
    looks: Arc<Mutex<bool>>,
    stopped: watch::Receiver<bool>,
    /// The last known activity of each session, and how many of its folds were in force, if that was counted.
    before: HashMap<String, (SessionActivity, Option<u64>)>,
    /// The newest tick of the last reading.
    seen: u64,
    /// The oldest tick of the first reading. Sessions before it were not read; `None` where there were none.
    oldest: Option<u64>,
    /// When the newest session of the first reading had changed, in milliseconds since 1970.
    since: u64,
}

impl StoreWatch {
    /// Reads the store in intervals until nobody listens or the server stops.
    async fn run(mut self) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                _ = self.stopped.wait_for(|stop| *stop) => return,
            }
            if self.is_alone().await {
                return;
            }
            match self.look().await {
                Ok(now) => self.tell(now).await,
                Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
            }
        }
    }

    /// Reads all sessions that changed since the last reading, the newest change first, and some that did not.
    async fn look(&self) -> Result<Vec<SessionActivity>, StoreError> {
        let mut activities: Vec<SessionActivity> = Vec::new();
        loop {
            // A session that changes between two pages gets a tick above the first page, and the next reading finds it.
            let page =
                newest(&*self.store, activities.last().map(|activity| activity.tick)).await?;
            // Of two changes at once, PostgreSQL may show the one with the lower tick later. So the whole page is taken,
            // and not only what is above the newest tick of the last reading.
            let is_last = page.len() < AT_ONCE as usize
                || page.last().is_some_and(|activity| activity.tick <= self.seen);
            activities.extend(page);
            if is_last {
                // Those that the first reading left out did not change.
                activities
                    .retain(|activity| self.oldest.is_none_or(|oldest| activity.tick > oldest));
                return Ok(activities);
            }
        }
    }

    /// Whether nobody listens any more. If so, also notes that the next listener has to start a new task.
    async fn is_alone(&self) -> bool {
        let mut looks = self.looks.lock().await;
        *looks = self.changes.receiver_count() > 0;
        !*looks
    }

    /// Reports the sessions that changed since the last reading, the oldest change first.
    async fn tell(&mut self, now: Vec<SessionActivity>) {
        // The newest change comes first, so its tick is the highest. A deleted session takes its tick away.
        self.seen = now.first().map_or(self.seen, |activity| activity.tick.max(self.seen));
        for activity in now.into_iter().rev() {
            let before = self.before.get(&activity.id);
            if before.is_some_and(|(before, _)| before.tick == activity.tick) {
                continue;
            }
            // A log only grows, so a shorter one is that of another session, which has the id of a deleted one.
            let before = before.filter(|(before, _)| before.head <= activity.head);
            let known = before.filter(|(before, _)| has_same_folds(before, &activity));
            let folds = match known.and_then(|(_, folds)| *folds) {
                Some(folds) => folds,
                // The session may have been deleted meanwhile; the next change corrects the number.
                None => folds_in_force(&*self.store, &activity).await.unwrap_or(activity.folds),
            };
            let kind = match before {
                Some((before, _)) => kind(before, &activity),
                None if self.is_new(&activity).await => "new",
                None => "append",
            };
            let _ = self.changes.send(SessionChange::of(kind, &activity, folds));
            self.before.insert(activity.id.clone(), (activity, Some(folds)));
        }
    }

    /// Whether a session that was never read was made after the first reading, and not only left out by it.
    async fn is_new(&self, activity: &SessionActivity) -> bool {
        // A session that was deleted meanwhile counts as new, too. Its deletion is the next event.
        self.oldest.is_none()
            || self
                .store
                .session(&activity.id)
                .await
                .map_or(true, |row| row.new.created >= self.since)
    }
}

/// Whether both have the same folds, and the same active one.
fn has_same_folds(before: &SessionActivity, now: &SessionActivity) -> bool {
    (before.folds, before.active) == (now.folds, now.active)
}

/// The name of a change. Several may have happened between two readings; the most important one is named.
fn kind(before: &SessionActivity, now: &SessionActivity) -> &'static str {
    // A fold is stored first and activated afterwards, so this test comes before that for an undo.
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
