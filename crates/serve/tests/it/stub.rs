//! A server that answers whatever path with what it is told to, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use hyper::body::Bytes;
use hyper::{HeaderMap, Response};
use midfold::DialectKind;

/// What it was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The server.
pub struct Stub {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stub {
    /// Answers each request with a status and JSON.
    pub async fn start(answer: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", tcp.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (heard, answer) = (Arc::clone(&asked), Arc::new(answer));
        let handler = move |request: Request| {
            let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
            async move {
                let (parts, body) = request.into_parts();
                let asked = Asked {
                    path: parts.uri.to_string(),
                    headers: parts.headers,
                    body: to_bytes(body, usize::MAX).await.unwrap(),
                };
                let (status, text) = answer(&asked);
                heard.lock().unwrap().push(asked);
                let response = Response::builder().status(status);
                response.header("content-type", "application/json").body(Body::from(text)).unwrap()
            }
        };
        tokio::spawn(async move {
            axum::serve(tcp, Router::new().fallback(handler)).await.unwrap();
        });
        Self { url, asked }
    }

    /// One that answers all requests with nothing in particular.
    pub async fn quiet() -> Self {
        Self::start(|_| (200, "{}".to_owned())).await
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// What it was asked last.
    pub fn last(&self) -> Asked {
        self.asked().pop().unwrap()
    }
}

/// A request with a history of so many exchanges of 100 words each, for this model.
pub fn history(kind: DialectKind, model: &str, exchanges: usize) -> String {
    let text = |at: usize| format!("step {at}: {}", "word ".repeat(100));
    let one = |at: usize, role: &str| match (kind, role) {
        (DialectKind::Gemini, "assistant") => {
            serde_json::json!({"role": "model", "parts": [{"text": text(at)}]})
        }
        (DialectKind::Gemini, _) => {
            serde_json::json!({"role": role, "parts": [{"text": text(at)}]})
        }
        (DialectKind::Bedrock, _) => {
            serde_json::json!({"role": role, "content": [{"text": text(at)}]})
        }
        _ => serde_json::json!({"role": role, "content": text(at)}),
    };
    let mut all: Vec<_> =
        (0..exchanges).flat_map(|at| [one(at, "user"), one(at, "assistant")]).collect();
    all.push(one(exchanges, "user"));
    let body = match kind {
        DialectKind::Gemini => serde_json::json!({"contents": all}),
        DialectKind::Bedrock => {
            serde_json::json!({"inferenceConfig": {"maxTokens": 500}, "messages": all})
        }
        DialectKind::OpenAiResponses => serde_json::json!({"model": model, "input": all}),
        _ => serde_json::json!({"model": model, "max_tokens": 500, "messages": all}),
    };
    body.to_string()
}
