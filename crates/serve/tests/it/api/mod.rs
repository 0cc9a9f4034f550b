//! The interface to sessions, over a real connection.

mod console;
mod document;
mod feed;
mod keys;
mod server;
mod sessions;

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold::store::{MemoryStore, Store};
use midfold_serve::ServeConfig;
use midfold_testkit::upstream::UpstreamSettings;
use serde_json::{Value, json};

use crate::setting::{Setting, rules};

/// A server over a store, and someone who asks it.
struct Asking {
    setting: Setting,
    store: Arc<dyn Store>,
    key: Option<String>,
}

/// An answer.
struct Answer {
    status: StatusCode,
    kind: String,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    /// What was asked for, done.
    fn done(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.json());
        self.json()
    }

    /// The code of the problem.
    fn problem(&self, status: u16) -> String {
        let problem = self.json();
        assert_eq!(
            (self.status.as_u16(), self.kind.as_str()),
            (status, "application/problem+json")
        );
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["type"], format!("urn:midfold:{}", problem["code"].as_str().unwrap()));
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{problem}");
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl Asking {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut ServeConfig)) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let kept = Arc::clone(&store);
        let setting = Setting::with(UpstreamSettings::default(), |config| {
            config.rules = rules().window(16_000);
            config.store = Some(kept);
            change(config);
        })
        .await;
        Self { setting, store, key: None }
    }

    fn as_key(&self, key: &str) -> Asker<'_> {
        Asker { asking: self, key: Some(key.to_owned()), headers: Vec::new() }
    }

    fn asker(&self) -> Asker<'_> {
        Asker { asking: self, key: self.key.clone(), headers: Vec::new() }
    }

    async fn get(&self, path: &str) -> Answer {
        self.asker().send(Method::GET, path, None).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.asker().send(Method::POST, path, Some(body)).await
    }

    /// A session of a coding agent with this id, which is longer than its window.
    async fn coding(&self, id: &str, window: u64) -> Vec<Value> {
        let messages: Vec<Value> = midfold_testkit::coding_session(7, 40)
            .iter()
            .map(|message| serde_json::from_str(message).unwrap())
            .collect();
        let new = json!({ "id": id, "window": window, "model": "gpt-5", "messages": messages });
        self.post("/v1/sessions", &new).await.done();
        messages
    }
}

/// Someone who asks, with what they send beside it.
struct Asker<'a> {
    asking: &'a Asking,
    key: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl Asker<'_> {
    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    async fn get(self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    async fn post(self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    async fn send(self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let kind = body.map(|_| "application/json");
        let body = body.map(Value::to_string).unwrap_or_default();
        self.raw(method, path, body, kind).await
    }

    /// Whatever the body is.
    async fn text(self, path: &str, body: &str, kind: &str) -> Answer {
        self.raw(Method::POST, path, body.to_owned(), Some(kind)).await
    }

    async fn raw(self, method: Method, path: &str, body: String, kind: Option<&str>) -> Answer {
        let url = format!("{}{path}", self.asking.setting.url());
        let mut request = Request::builder().method(method).uri(url);
        if let Some(key) = &self.key {
            request = request.header("midfold-key", key);
        }
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
        let answer = client.request(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = answer.into_parts();
        let kind = parts.headers.get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, kind: kind.unwrap_or_default(), body }
    }
}
