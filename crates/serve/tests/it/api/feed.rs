//! Changes are told as they happen, whoever makes them.

use std::sync::Arc;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold::RawEvent;
use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::store::single::SingleChange as _;
use midfold::store::{MemoryStore, NewSession, Store, StoredSession};
use serde_json::json;

use super::Asking;

/// What a listener hears.
struct Listener {
    body: hyper::body::Incoming,
    held: String,
}

impl Listener {
    async fn of(asking: &Asking, path: &str) -> Self {
        let url = format!("{}{path}", asking.setting.url());
        let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
        let request = Request::get(url).body(Body::empty()).unwrap();
        let answer = client.request(request).await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let mut listener = Self { body: answer.into_body(), held: String::new() };
        assert_eq!(listener.next().await.0, "hello");
        listener
    }

    /// The next event of this kind. A change is made in steps, and the store may be looked at between two.
    async fn until(&mut self, wanted: &str) -> serde_json::Value {
        loop {
            let (name, told) = self.next().await;
            if name == wanted {
                return told;
            }
            assert!(matches!(name.as_str(), "fold" | "change"), "{name} {told}, not {wanted}");
        }
    }

    /// The next event.
    async fn next(&mut self) -> (String, serde_json::Value) {
        loop {
            if let Some((event, rest)) = self.held.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.held = rest;
                let Some((name, data)) = event.split_once('\n') else { continue };
                let name = name.trim_start_matches("event: ").to_owned();
                return (name, serde_json::from_str(data.trim_start_matches("data: ")).unwrap());
            }
            let frame = self.body.frame().await.expect("the stream goes on").unwrap();
            self.held += &String::from_utf8_lossy(&frame.into_data().unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_told_by_whom_ever_they_are_made() {
    let asking = Asking::new().await;
    asking.coding("s", 12_000).await;
    asking.post("/v1/sessions", &json!({ "id": "quiet" })).await.done();
    let mut all = Listener::of(&asking, "/v1/events").await;
    let mut quiet = Listener::of(&asking, "/v1/events?session=quiet").await;

    // Over the interface.
    asking.post("/v1/sessions/s/compact", &json!({})).await.done();
    let told = all.until("fold").await;
    assert_eq!((&told["session"], &told["folds"]), (&json!("s"), &json!(1)));
    asking.post("/v1/sessions/s/undo", &json!({})).await.done();
    assert_eq!(all.until("undo").await["active"], json!(null));

    // By another process that has the store.
    let mut other = StoredSession::open(Arc::clone(&asking.store), "quiet").await.unwrap();
    let message = RawEvent::new(r#"{"role":"user","content":"hi"}"#.into());
    other.append(vec![message], None, 1).await.unwrap();
    for listener in [&mut all, &mut quiet] {
        let told = listener.until("append").await;
        assert_eq!((&told["session"], &told["events"]), (&json!("quiet"), &json!(1)));
    }
    asking.asker().send(hyper::Method::DELETE, "/v1/sessions/quiet", None).await.done();
    quiet.until("delete").await;
}

fn session(id: &str, created: u64) -> NewSession {
    NewSession { id: id.to_owned(), created, ..NewSession::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_new_when_it_is_told_first_even_if_it_has_messages_by_then() {
    let asking = Asking::new().await;
    let mut listener = Listener::of(&asking, "/v1/events").await;
    for id in ["one", "two"] {
        // Made by another process in one step, as an import does.
        let message = json!([{ "role": "user", "content": "hi" }]);
        asking.post("/v1/sessions", &json!({ "id": id, "messages": message })).await.done();
        let (name, told) = listener.next().await;
        assert_eq!((name.as_str(), &told["session"]), ("new", &json!(id)));
        let mut events = told["events"].clone();
        while events != json!(1) {
            events = listener.until("append").await["events"].clone();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_session_that_was_never_told_is_not_new() {
    let asking = Asking::new().await;
    let old = json!({ "id": "old", "messages": [{ "role": "user", "content": "hi" }] });
    asking.post("/v1/sessions", &old).await.done();
    // More than the first reading reads.
    let created = asking.store.session("old").await.unwrap().new.created + 1_000_000;
    for at in 0..300 {
        asking.store.create(session(&format!("s{at}"), created)).await.unwrap();
    }
    let mut listener = Listener::of(&asking, "/v1/events").await;
    // What the deletion brings into the first page did not change.
    asking.asker().send(hyper::Method::DELETE, "/v1/sessions/s299", None).await.done();
    assert_eq!(listener.next().await.0, "delete");
    let mut other = StoredSession::open(Arc::clone(&asking.store), "old").await.unwrap();
    other
        .append(vec![RawEvent::new(r#"{"role":"user","content":"hi"}"#.into())], None, 1)
        .await
        .unwrap();
    let (name, told) = listener.next().await;
    assert_eq!((name.as_str(), &told["session"]), ("append", &json!("old")));
    asking.store.create(session("young", created + 1)).await.unwrap();
    let (name, told) = listener.next().await;
    assert_eq!((name.as_str(), &told["session"]), ("new", &json!("young")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_committed_after_a_later_one_is_told() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let store = Arc::new(FaultyStore::new(inner, WriteFailure::Before, 0..0));
    let kept: Arc<dyn Store> = store.clone();
    let asking = Asking::with(|config| config.store = Some(kept)).await;
    let mut listener = Listener::of(&asking, "/v1/events").await;
    store.set_hidden(Some("slow"));
    store.create(session("slow", 1)).await.unwrap();
    store.create(session("quick", 1)).await.unwrap();
    assert_eq!(listener.next().await.1["session"], "quick");
    store.set_hidden(None);
    assert_eq!(listener.next().await.1["session"], "slow");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_ends_what_never_ends() {
    let asking = Asking::new().await;
    let mut listener = Listener::of(&asking, "/v1/events").await;
    asking.setting.proxy.stop().await;
    assert!(listener.body.frame().await.is_none_or(|frame| frame.is_err()));
}
