//! The way to the provider: pooled connections, TLS by the platform's roots, bodies as they come.

use std::sync::Arc;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::config::Upstreams;
use crate::provider::Provider;

/// The way to the providers.
pub(crate) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    bases: Upstreams,
}

/// Why a provider did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("the address of the upstream and the path of the request make no address")]
    Address,
    #[error("the upstream does not answer: {0}")]
    Client(String),
    #[error("the upstream's answer broke off before it said anything: {0}")]
    Broken(String),
}

impl Upstream {
    pub fn new(bases: Upstreams) -> Result<Self, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(http);
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(https), bases })
    }

    pub fn address(&self, provider: Provider, uri: &Uri) -> Result<Uri, NoAnswer> {
        let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        self.bases.address(provider, path).ok_or(NoAnswer::Address)
    }

    /// Sends a request, and answers as soon as the provider's head is there.
    pub async fn send(
        &self,
        method: hyper::Method,
        address: Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = address;
        *request.headers_mut() = headers;
        self.client.request(request).await.map_err(|error| NoAnswer::Client(told(&error)))
    }
}

/// All that an error says: the outermost layer alone says nothing.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut inner = error.source();
    while let Some(error) = inner {
        text = format!("{text}: {error}");
        inner = error.source();
    }
    text
}

/// The type of a body.
pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    headers
        .get(hyper::header::CONTENT_TYPE)
        .map(HeaderValue::to_str)
        .and_then(Result::ok)
        .unwrap_or("")
}
