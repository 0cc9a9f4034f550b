//! A client that waits for the whole answer.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// A client that keeps its connections.
pub struct Client {
    pool: Pool<HttpConnector, Full<Bytes>>,
}

/// What an answer cost.
pub struct Answer {
    pub took: Duration,
    pub bytes: usize,
}

impl Client {
    pub fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { pool: Pool::builder(TokioExecutor::new()).build(connector) }
    }

    pub async fn ask(&self, address: SocketAddr, body: Bytes) -> Result<Answer> {
        let request = Request::post(format!("http://{address}/v1/chat/completions"))
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        let start = Instant::now();
        let answer = self.pool.request(request).await?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await?.to_bytes().len();
        ensure!(status.is_success(), "{address} answered {status}");
        Ok(Answer { took: start.elapsed(), bytes })
    }
}
