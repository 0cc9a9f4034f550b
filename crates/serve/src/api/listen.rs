//! Streams changes of sessions to listeners as server-sent events.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::ask::ApiRequest;
use super::caller::ApiCaller;
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::{activity, or_problem};
use crate::desk::SessionChange;
use crate::keys::{ApiKeys, KeyHolder};

/// How often a listener gets at least one line, by which it knows that the connection is alive.
const PULSE: Duration = Duration::from_secs(15);
/// The event that says: every change from now on will be sent.
const HELLO: Bytes = Bytes::from_static(b"event: hello\ndata: {}\n\n");

/// A query for a stream of changes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListenQuery {
    /// Only changes of the session with this id.
    session: Option<String>,
}

pub(super) fn routes(api: &mut ApiRoutes) {
    api.stream::<SessionChange, _, _, _>(
        Operation::get(
            "/v1/events",
            "listen",
            "Server-sent events: `hello`, then `new`, `append`, `fold`, `undo`, `call`, `change` and `delete` \
             with what the session does by then",
        ),
        listen,
    );
}

async fn listen(request: ApiRequest<ListenQuery>) -> Result<Response, ApiProblem> {
    let ApiRequest { app, desk, caller, holder, query, .. } = request;
    if let Some(id) = &query.session {
        activity(&desk, &caller, id).await?;
    }
    let listener = or_problem(&desk, desk.feed.listen()).await?;
    // The queue is short, so a listener that does not read lags behind in the broadcast and gets a new `hello`, and no
    // memory grows.
    let (sender, body) = Channel::<Bytes, Infallible>::new(16);
    let stopped = desk.stopped.clone();
    let keys = app.keys.as_ref().map(watch::Sender::subscribe);
    let key = keys.zip(holder).map(|(keys, holder)| KeyInUse { keys, holder });
    let session = query.session;
    tokio::spawn(ListenerStream { sender, listener, caller, key, session, stopped }.run());
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The key of a listener, and the keys that the server accepts now.
struct KeyInUse {
    keys: watch::Receiver<Arc<ApiKeys>>,
    holder: Arc<KeyHolder>,
}

/// Waits until the key is removed, or its entry changes; for ever if there is none.
async fn until_removed(key: &mut Option<KeyInUse>) {
    let Some(KeyInUse { keys, holder }) = key else { return pending().await };
    // An error means that the server has ended.
    let _ = keys.wait_for(|keys| !keys.has(holder)).await;
}

/// The stream of one listener, until it leaves, its key is removed or the server stops.
struct ListenerStream {
    sender: Sender<Bytes, Infallible>,
    listener: broadcast::Receiver<SessionChange>,
    caller: ApiCaller,
    /// `None` if the server has no keys.
    key: Option<KeyInUse>,
    session: Option<String>,
    stopped: watch::Receiver<bool>,
}

impl ListenerStream {
    /// Sends changes until the listener leaves, its key is removed or the server stops.
    async fn run(mut self) {
        if self.say(HELLO).await.is_err() {
            return;
        }
        loop {
            let news = tokio::select! {
                // In this order: what happens after a key is removed is not sent any more.
                biased;
                () = until_removed(&mut self.key) => return,
                _ = self.stopped.wait_for(|stop| *stop) => return,
                news = self.listener.recv() => Some(news),
                () = tokio::time::sleep(PULSE) => None,
            };
            let frame = match news {
                None => Bytes::from_static(b": here\n\n"),
                Some(Ok(change)) if self.is_told(&change) => change.frame(),
                Some(Ok(_)) => continue,
                // The listener was too slow and missed changes. A new `hello` makes it read everything again.
                Some(Err(RecvError::Lagged(_))) => HELLO,
                Some(Err(RecvError::Closed)) => return,
            };
            if self.say(frame).await.is_err() {
                return;
            }
        }
    }

    fn is_told(&self, change: &SessionChange) -> bool {
        self.caller.sees(change.owner.as_deref())
            && self.session.as_ref().is_none_or(|id| *id == change.session)
    }

    async fn say(&mut self, frame: Bytes) -> Result<(), ()> {
        self.sender.send_data(frame).await.map_err(drop)
    }
}
