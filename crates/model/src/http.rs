//! One call over HTTP, with limits on its time and size.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use midfold_core::narrate::FailureClass;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::{Instant, timeout_at};

use crate::config::{ConfigError, ModelConfig, is_loopback};
use crate::retry;
use crate::wire::{CallRefusal, ModelAnswer, WireProtocol};

/// The longest answer that is read, in bytes: a thousand times the size of a recap.
const LONGEST_ANSWER: usize = 4 << 20;

/// A pool of connections to one endpoint, with the credentials for it.
pub(crate) struct HttpPool {
    client: reqwest::Client,
    endpoint: Url,
    /// The header with the credentials, marked as sensitive. `None` where the server needs none.
    authorization: Option<HeaderValue>,
    wire: WireProtocol,
}

/// A refusal, and the time for which the server asks not to be called.
pub(crate) type FailedCall = (CallRefusal, Option<Duration>);

impl HttpPool {
    pub(crate) fn new(config: &ModelConfig, wire: WireProtocol) -> Result<Self, ConfigError> {
        let mut base =
            Url::parse(&config.base_url).map_err(|_| ConfigError::Address("it does not parse"))?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(ConfigError::Address("it has to be http:// or https://"));
        }
        let address = base.clone();
        // Credentials that stay in the address would appear in errors and logs.
        let _ = (base.set_username(""), base.set_password(None));
        let mut builder =
            reqwest::Client::builder().redirect(Policy::none()).tls_backend_preconfigured(tls()?);
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(client_error)?;
        let authorization = authorization(config, &address, client.get(base.clone()))?;
        Ok(Self { client, endpoint: wire.endpoint(&base), authorization, wire })
    }

    /// Posts a body and reads the answer. The last byte has to arrive within `limit`, so an answer that trickles is
    /// refused too.
    pub(crate) async fn post(
        &self,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<ModelAnswer, FailedCall> {
        let start = Instant::now();
        let end = start.checked_add(limit).unwrap_or(start);
        let mut request = self
            .client
            .post(self.endpoint.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = timeout_at(end, request.body(body).send())
            .await
            .map_err(|_| late("no answer in time"))?
            .map_err(|error| (broken(&error), None))?;
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(retry::retry_after);
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let body = self.collect(response, end).await?;
        if !status.is_success() {
            return Err((self.wire.refusal(status.as_u16(), &body), retry_after));
        }
        self.wire.read(&kind, &body).map_err(|refusal| (refusal, None))
    }

    async fn collect(&self, mut response: Response, end: Instant) -> Result<BytesMut, FailedCall> {
        let mut body = BytesMut::new();
        loop {
            let chunk = timeout_at(end, response.chunk())
                .await
                .map_err(|_| late("the answer was not whole in time"))?
                .map_err(|error| (broken(&error), None))?;
            let Some(chunk) = chunk else { return Ok(body) };
            if body.len() + chunk.len() > LONGEST_ANSWER {
                let refusal = CallRefusal::new(FailureClass::Garbage, "the answer has no end");
                return Err((refusal, None));
            }
            body.extend_from_slice(&chunk);
            if self.wire.is_complete(&body) {
                return Ok(body);
            }
        }
    }
}

/// The header with the key, or with the credentials of the address. `None` where there are neither. `any` is a request
/// that is never sent.
fn authorization(
    config: &ModelConfig,
    address: &Url,
    any: RequestBuilder,
) -> Result<Option<HeaderValue>, ConfigError> {
    if let Some(key) = &config.key {
        let text = format!("Bearer {}", key.reveal());
        let mut value = HeaderValue::from_str(&text).map_err(|_| ConfigError::Key)?;
        value.set_sensitive(true);
        return Ok(Some(value));
    }
    let Some(password) = address.password() else { return Ok(None) };
    let any = any.basic_auth(address.username(), Some(password)).build();
    Ok(any.map_err(client_error)?.headers_mut().remove(AUTHORIZATION))
}

/// TLS with ring, for this client alone: a library must not set a provider for the whole process.
fn tls() -> Result<rustls::ClientConfig, ConfigError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(client_error)?;
    Ok(builder.with_no_client_auth())
}

fn client_error(error: impl std::fmt::Display) -> ConfigError {
    ConfigError::Client(error.to_string())
}

fn late(detail: &str) -> FailedCall {
    (CallRefusal::new(FailureClass::Timeout, detail), None)
}

/// A failure below HTTP. Its own text may contain the address, so it is replaced.
fn broken(error: &reqwest::Error) -> CallRefusal {
    if error.is_timeout() {
        return CallRefusal::new(FailureClass::Timeout, "the connection timed out");
    }
    // An answer that is no HTTP is still an answer, and a wrong one.
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if text.contains("invalid HTTP") || text.contains("parse") {
            return CallRefusal::new(FailureClass::Garbage, "the answer is no HTTP");
        }
        cause = inner.source();
    }
    let detail = if error.is_connect() { "no connection" } else { "the connection broke" };
    CallRefusal::new(FailureClass::Network, detail)
}
