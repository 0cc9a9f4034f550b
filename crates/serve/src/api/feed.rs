//! What changes in the store, as it does: server-sent events. The store is asked four times a second while
//! somebody listens, so that the changes of other processes are told as well.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use midfold::store::{Activity, Newest, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::ask::Asked;
use super::caller::Caller;
use super::describe::{Api, Op};
use super::problem::Problem;

/// How often the store is asked.
const EVERY: Duration = Duration::from_millis(250);
/// How often a listener hears something, so that it knows that the connection is there.
const PULSE: Duration = Duration::from_secs(15);
/// Sessions that may change between two looks.
const AT_ONCE: u32 = 256;
/// Says that changes are told from now on.
const HELLO: Bytes = Bytes::from_static(b"event: hello\ndata: {}\n\n");
/// Changes that a slow listener may be behind.
const BEHIND: usize = 1_024;

/// What listeners ask for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listen {
    /// Only changes of this session.
    session: Option<String>,
}

pub(super) fn routes(api: &mut Api) {
    api.raw(
        Op::get(
            "/v1/events",
            "listen",
            "Server-sent events: `hello`, then `new`, `append`, `fold`, `undo`, `call`, `change` and `delete` \
             with what the session does by then",
        )
        .answers("text/event-stream"),
        listen,
    );
}

/// A change of a session.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Change {
    #[serde(skip)]
    kind: &'static str,
    #[serde(skip)]
    owner: Option<String>,
    session: String,
    tick: u64,
    events: u64,
    tokens: u64,
    folds: u64,
    calls: u64,
    active: Option<u64>,
    changed: u64,
}

impl Change {
    fn of(kind: &'static str, it: &Activity) -> Self {
        Self {
            kind,
            owner: it.owner.clone(),
            session: it.id.clone(),
            tick: it.tick,
            events: it.head,
            tokens: it.tokens,
            folds: it.folds,
            calls: it.calls,
            active: it.active_number,
            changed: it.changed,
        }
    }

    /// As it goes over the wire.
    fn frame(&self) -> Bytes {
        let data = serde_json::to_string(self).unwrap_or_default();
        format!("event: {}\ndata: {data}\n\n", self.kind).into()
    }
}

/// What changes, for all who listen.
pub(crate) struct Feed {
    store: Arc<dyn Store>,
    told: broadcast::Sender<Change>,
    looks: Arc<AtomicBool>,
    stopped: watch::Receiver<bool>,
}

impl Feed {
    pub fn new(store: Arc<dyn Store>, stopped: watch::Receiver<bool>) -> Self {
        let (told, _) = broadcast::channel(BEHIND);
        Self { store, told, looks: Arc::default(), stopped }
    }

    /// A session was deleted: nothing of it is left that would show.
    pub fn deleted(&self, it: &Activity) {
        let _ = self.told.send(Change::of("delete", it));
    }

    /// Changes from now on. Whoever comes first has the store looked at.
    async fn listen(&self) -> Result<broadcast::Receiver<Change>, StoreError> {
        let listener = self.told.subscribe();
        if !self.looks.swap(true, Ordering::SeqCst) {
            let before = match look(&*self.store).await {
                Ok(before) => before,
                Err(error) => {
                    self.looks.store(false, Ordering::SeqCst);
                    return Err(error);
                }
            };
            let before = before.into_iter().map(|it| (it.id.clone(), it)).collect();
            let looking = Looking {
                store: Arc::clone(&self.store),
                told: self.told.clone(),
                looks: Arc::clone(&self.looks),
                stopped: self.stopped.clone(),
                before,
            };
            tokio::spawn(looking.run());
        }
        Ok(listener)
    }
}

async fn look(store: &dyn Store) -> Result<Vec<Activity>, StoreError> {
    store.newest(&Newest { limit: AT_ONCE, ..Newest::default() }).await
}

/// Looks at the store until nobody listens any more.
struct Looking {
    store: Arc<dyn Store>,
    told: broadcast::Sender<Change>,
    looks: Arc<AtomicBool>,
    stopped: watch::Receiver<bool>,
    before: HashMap<String, Activity>,
}

impl Looking {
    async fn run(mut self) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                _ = self.stopped.wait_for(|stop| *stop) => break,
            }
            if self.told.receiver_count() == 0 {
                break;
            }
            match look(&*self.store).await {
                Ok(now) => self.tell(now),
                Err(error) => tracing::warn!(%error, "the store cannot be looked at"),
            }
        }
        self.looks.store(false, Ordering::SeqCst);
    }

    /// Tells what is other than before, the oldest change first.
    fn tell(&mut self, now: Vec<Activity>) {
        for it in now.into_iter().rev() {
            let before = self.before.get(&it.id);
            if before.is_some_and(|before| before.tick == it.tick) {
                continue;
            }
            let _ = self.told.send(Change::of(kind(before, &it), &it));
            self.before.insert(it.id.clone(), it);
        }
    }
}

fn kind(before: Option<&Activity>, now: &Activity) -> &'static str {
    let Some(before) = before else { return if now.head == 0 { "new" } else { "append" } };
    if now.folds > before.folds {
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

async fn listen(asked: Asked<Listen>) -> Result<Response, Problem> {
    let Asked { desk, caller, query, .. } = asked;
    if let Some(id) = &query.session {
        super::sessions::activity(&desk, &caller, id).await?;
    }
    let listener = match desk.feed.listen().await {
        Ok(listener) => listener,
        Err(error) => return Err(Problem::stored(&*desk.store, error.into()).await),
    };
    let (sender, body) = Channel::<Bytes, Infallible>::new(16);
    let stopped = desk.stopped.clone();
    tokio::spawn(Telling { sender, listener, caller, session: query.session, stopped }.run());
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// One listener, until it leaves or the server stops.
struct Telling {
    sender: Sender<Bytes, Infallible>,
    listener: broadcast::Receiver<Change>,
    caller: Caller,
    session: Option<String>,
    stopped: watch::Receiver<bool>,
}

impl Telling {
    async fn run(mut self) {
        if self.say(HELLO).await.is_err() {
            return;
        }
        loop {
            let heard = tokio::select! {
                heard = self.listener.recv() => Some(heard),
                () = tokio::time::sleep(PULSE) => None,
                _ = self.stopped.wait_for(|stop| *stop) => return,
            };
            let frame = match heard {
                None => Bytes::from_static(b": here\n\n"),
                Some(Ok(change)) if self.is_told(&change) => change.frame(),
                Some(Ok(_)) => continue,
                // Some changes passed by: the listener reads everything again.
                Some(Err(RecvError::Lagged(_))) => HELLO,
                Some(Err(RecvError::Closed)) => return,
            };
            if self.say(frame).await.is_err() {
                return;
            }
        }
    }

    fn is_told(&self, change: &Change) -> bool {
        self.caller.sees(change.owner.as_deref())
            && self.session.as_ref().is_none_or(|id| *id == change.session)
    }

    async fn say(&mut self, frame: Bytes) -> Result<(), ()> {
        self.sender.send_data(frame).await.map_err(drop)
    }
}
