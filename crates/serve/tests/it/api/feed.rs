//! Changes are told as they happen, whoever makes them.

use std::sync::Arc;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold::RawEvent;
use midfold::store::StoredSession;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_ends_what_never_ends() {
    let asking = Asking::new().await;
    let mut listener = Listener::of(&asking, "/v1/events").await;
    asking.setting.proxy.stop().await;
    assert!(listener.body.frame().await.is_none_or(|frame| frame.is_err()));
}
