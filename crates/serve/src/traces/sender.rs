//! Sends traces with the HTTP client for providers, so that the same proxies and the same trusted authorities are used.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::upstream::UpstreamClient;

/// How long a collector may take to accept a batch.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The most bytes of a collector's answer that are read.
const LONGEST_ANSWER: usize = 64 << 10;

/// Sends batches to a collector. If the collector is unreachable, it logs that once.
#[derive(Clone)]
pub(super) struct TraceSender {
    upstream: UpstreamClient,
    runtime: Handle,
    is_away: Arc<AtomicBool>,
}

impl TraceSender {
    /// Makes a sender that runs on the runtime of the caller.
    pub fn new(upstream: &UpstreamClient) -> Self {
        let (upstream, runtime) = (upstream.clone(), Handle::current());
        Self { upstream, runtime, is_away: Arc::default() }
    }

    /// Logs a change between reachable and unreachable, and not every batch.
    fn note(&self, why: Option<String>) {
        let was_away = self.is_away.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_away => {
                tracing::warn!(
                    why,
                    "the collector takes no traces: they are dropped until it does"
                );
            }
            None if was_away => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for TraceSender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let asking = exchange(self.upstream.clone(), parts, body);
        // The SDK calls this on a thread without a runtime, so the work is moved to ours.
        let bounded = async move { timeout(LONGEST_WAIT, asking).await };
        let answer = self.runtime.spawn(bounded).await;
        let answer: Result<_, HttpError> = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(late)) => Err(late.into()),
            Err(ended) => Err(ended.into()),
        };
        self.note(match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(answer.status().to_string()),
            Err(error) => Some(error.to_string()),
        });
        answer
    }
}

async fn exchange(
    upstream: UpstreamClient,
    parts: Parts,
    body: Bytes,
) -> Result<Response<Bytes>, HttpError> {
    let answer = upstream.send(parts.method, parts.uri, parts.headers, Body::from(body)).await?;
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, LONGEST_ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

impl fmt::Debug for TraceSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSender").finish_non_exhaustive()
    }
}
