//! The way to upstreams through the HTTP proxies of a network, which are asked for tunnels.

use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use rustls::pki_types::CertificateDer;
use tower::Service;

use crate::tls::{TlsError, certificates};

/// The address of an HTTP proxy: `http://HOST:PORT`, or `HOST:PORT`, with `USER:PASSWORD@` where it asks for them. It is
/// reached without TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(String);

/// Why a text is no [`ProxyAddress`]. The text is not repeated, because it may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyAddressError {
    /// It has no host, or is no address at all.
    #[error("it is no address")]
    Address,
    /// Another protocol, such as SOCKS.
    #[error("it names a proxy of {0}://, and only http:// proxies are supported")]
    Scheme(String),
}

impl FromStr for ProxyAddress {
    type Err = ProxyAddressError;

    fn from_str(text: &str) -> Result<Self, ProxyAddressError> {
        let text = text.trim();
        if let Some((scheme, _)) = text.split_once("://")
            && !scheme.eq_ignore_ascii_case("http")
        {
            return Err(ProxyAddressError::Scheme(scheme.to_ascii_lowercase()));
        }
        let address: Uri = text.parse().map_err(|_| ProxyAddressError::Address)?;
        match address.host() {
            Some(host) if !host.is_empty() => Ok(Self(text.to_owned())),
            _ => Err(ProxyAddressError::Address),
        }
    }
}

impl std::fmt::Debug for ProxyAddress {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The part before the `@` holds a password.
        write!(out, "ProxyAddress({})", self.0.rsplit('@').next().unwrap_or_default())
    }
}

/// The HTTP proxies for outgoing requests, and the additional authorities to trust.
#[derive(Clone, Debug, Default)]
pub struct OutgoingProxy {
    /// The proxy for `https://` addresses. It is asked for a tunnel.
    pub https_proxy: Option<ProxyAddress>,
    /// The proxy for `http://` addresses, which is asked for a tunnel, too.
    pub http_proxy: Option<ProxyAddress>,
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
        let url = |proxy: &Option<ProxyAddress>| {
            proxy.as_ref().map_or_else(String::new, |proxy| proxy.0.clone())
        };
        let here = "localhost,127.0.0.0/8,::1";
        let no =
            self.no_proxy.as_ref().map_or(here.to_owned(), |listed| format!("{listed},{here}"));
        let builder = Matcher::builder().https(url(&self.https_proxy)).http(url(&self.http_proxy));
        Some(builder.no(no).build())
    }
}

/// Connects to an address, through a proxy's tunnel if there is one for it.
#[derive(Clone)]
pub(crate) struct TunnelConnector {
    http: HttpConnector,
    proxies: Option<Arc<Matcher>>,
}

impl TunnelConnector {
    pub fn new(http: HttpConnector, outgoing: &OutgoingProxy) -> Self {
        Self { http, proxies: outgoing.matcher().map(Arc::new) }
    }
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
        let through = with_port(&to).map(|to| tunnel.call(to));
        Box::pin(async move { Ok(through?.await?) })
    }
}

/// The address with its port: a tunnel takes 443 where none is named, whatever the scheme.
fn with_port(to: &Uri) -> Result<Uri, hyper::http::Error> {
    let (host, is_plain) = (to.host().unwrap_or_default(), to.scheme() == Some(&Scheme::HTTP));
    let port = to.port_u16().unwrap_or(if is_plain { 80 } else { 443 });
    let scheme = to.scheme().cloned().unwrap_or(Scheme::HTTPS);
    Uri::builder().scheme(scheme).authority(format!("{host}:{port}")).path_and_query("/").build()
}
