//! The HTTP client for upstreams: pooled connections, TLS with the system's authorities, streamed bodies.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls_platform_verifier::Verifier;
use tower::Service;

use crate::kept_connection::{NotingConnector, is_lost, note_answer};
use crate::tls::{TlsError, certificates};
use crate::upstreams::NoUpstream;

/// The HTTP client for upstreams.
#[derive(Clone)]
pub(crate) struct UpstreamClient {
    client: PooledClient,
    /// Makes a new connection for each request, for one whose kept connection was closed.
    anew: PooledClient,
}

type PooledClient = Client<NotingConnector<HttpsConnector<TunnelConnector>>, Body>;

/// The HTTP proxies for outgoing requests, and the additional authorities to trust.
#[derive(Clone, Debug, Default)]
pub struct OutgoingProxy {
    /// The proxy for `https://` addresses: `http://HOST:PORT`. It is asked for a tunnel.
    pub https_proxy: Option<String>,
    /// The proxy for `http://` addresses, which is asked for a tunnel, too.
    pub http_proxy: Option<String>,
    /// Hosts that are reached without a proxy, separated by commas: `localhost,.corp.example,10.0.0.0/8`.
    pub no_proxy: Option<String>,
    /// Authorities that are trusted in addition to the system's.
    pub trusted: Vec<CertificateDer<'static>>,
}

impl OutgoingProxy {
    /// Also trusts the authorities of a PEM file.
    ///
    /// # Errors
    /// If it has no certificate, or cannot be read.
    pub fn trust(&mut self, pem: &[u8]) -> Result<(), TlsError> {
        self.trusted.extend(certificates(pem)?);
        Ok(())
    }

    /// Whether requests to this URL use a proxy.
    #[must_use]
    pub fn is_proxied(&self, url: &str) -> bool {
        url.parse().is_ok_and(|address| self.is_through_proxy(&address))
    }

    /// Whether requests to this address use a proxy.
    pub(crate) fn is_through_proxy(&self, to: &Uri) -> bool {
        self.matcher().is_some_and(|proxies| proxies.intercept(to).is_some())
    }

    /// The rules for proxies; `None` if there are none. This machine is always reached without a proxy.
    fn matcher(&self) -> Option<Matcher> {
        if self.https_proxy.is_none() && self.http_proxy.is_none() {
            return None;
        }
        // In a list, `*` would be a name, and hosts that are numbers have none.
        if self.no_proxy.as_ref().is_some_and(|listed| listed.trim() == "*") {
            return None;
        }
        let url = |proxy: &Option<String>| proxy.clone().unwrap_or_default();
        let here = "localhost,127.0.0.0/8,::1";
        let no =
            self.no_proxy.as_ref().map_or(here.to_owned(), |listed| format!("{listed},{here}"));
        let builder = Matcher::builder().https(url(&self.https_proxy)).http(url(&self.http_proxy));
        Some(builder.no(no).build())
    }
}

/// Connects to an address, through a proxy's tunnel if there is one for it.
#[derive(Clone)]
struct TunnelConnector {
    http: HttpConnector,
    proxies: Option<Arc<Matcher>>,
}

type ConnectFuture<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

impl Service<Uri> for TunnelConnector {
    type Response = <HttpConnector as Service<Uri>>::Response;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = ConnectFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.as_ref().and_then(|proxies| proxies.intercept(&to)) else {
            let direct = self.http.call(to);
            return Box::pin(async move { Ok(direct.await?) });
        };
        let tunnel = Tunnel::new(proxy.uri().clone(), self.http.clone());
        let mut tunnel = match proxy.basic_auth() {
            Some(auth) => tunnel.with_auth(auth.clone()),
            None => tunnel,
        };
        let through = tunnel.call(to);
        Box::pin(async move { Ok(through.await?) })
    }
}

/// Why an upstream gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("the address of the upstream and the path of the request make no address")]
    Address,
    #[error("the path of the request leaves the address of the upstream by `..`")]
    Leaving,
    #[error(transparent)]
    Unknown(#[from] NoUpstream),
    #[error("the upstream {host} does not answer: {why}")]
    Client { host: String, why: String },
    #[error("the upstream's answer broke off before it said anything: {0}")]
    Broken(String),
}

impl UpstreamClient {
    pub fn new(outgoing: &OutgoingProxy) -> Result<Self, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trusted = outgoing.trusted.iter().cloned();
        let verifier = Verifier::new_with_extra_roots(trusted, Arc::clone(&provider))?;
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let mut http = HttpConnector::new();
        // The TLS connector around this one hands `https://` addresses down, which it would refuse otherwise.
        http.enforce_http(false);
        http.set_nodelay(true);
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(TunnelConnector { http, proxies: outgoing.matcher().map(Arc::new) });
        let mut builder = Client::builder(TokioExecutor::new());
        let client = builder.build(NotingConnector(https.clone()));
        Ok(Self { client, anew: builder.pool_max_idle_per_host(0).build(NotingConnector(https)) })
    }

    /// Sends a request. Returns when the head of the answer has come.
    pub async fn send(
        &self,
        method: hyper::Method,
        address: Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let host = host_of(&address);
        let answer = self.client.request(request(method, address, headers, body)).await;
        answered(answer, host)
    }

    /// As [`UpstreamClient::send`], with a body that is in memory. If a kept connection was closed before it gave an
    /// answer ([`is_lost`]), the request is sent once more, on a new connection.
    pub async fn send_whole(
        &self,
        method: hyper::Method,
        address: Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let make = || {
            let (method, address) = (method.clone(), address.clone());
            request(method, address, headers.clone(), Body::from(body.clone()))
        };
        let since = Instant::now();
        let answer = match self.client.request(make()).await {
            Err(error) if is_lost(&error, since.elapsed()) => {
                tracing::debug!(
                    error = with_causes(&error),
                    "a kept connection was closed: sent again"
                );
                self.anew.request(make()).await
            }
            answer => answer,
        };
        answered(answer, host_of(&address))
    }
}

fn request(method: hyper::Method, address: Uri, headers: HeaderMap, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = address;
    *request.headers_mut() = headers;
    request
}

/// The host and the port of an address, for messages.
fn host_of(address: &Uri) -> String {
    let host = address.host().unwrap_or_default();
    address.port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn answered(
    answer: Result<Response<Incoming>, hyper_util::client::legacy::Error>,
    host: String,
) -> Result<Response<Incoming>, NoAnswer> {
    let mut answer = answer.map_err(|error| NoAnswer::Client { host, why: with_causes(&error) })?;
    note_answer(&mut answer);
    Ok(answer)
}

/// The text of an error with all its causes: the outermost error alone explains little.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut inner = error.source();
    while let Some(error) = inner {
        text = format!("{text}: {error}");
        inner = error.source();
    }
    text
}

/// The content type of a body; empty if it has none.
pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    headers
        .get(hyper::header::CONTENT_TYPE)
        .map(HeaderValue::to_str)
        .and_then(Result::ok)
        .unwrap_or("")
}
