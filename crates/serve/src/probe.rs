//! Tests whether a provider can be reached, and at which step that fails.

use std::time::{Duration, UNIX_EPOCH};

use axum::body::Body;
use hyper::header::{DATE, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Uri};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};

use crate::outgoing::OutgoingProxy;
use crate::provider::Provider;
use crate::upstream::UpstreamClient;
use crate::upstreams::{UpstreamFacts, UpstreamTable};
use crate::windows::listed_windows;

/// The answer of a provider that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedProvider {
    /// The HTTP status. 401 is normal, because no key is sent.
    pub status: u16,
    /// The provider's time in milliseconds since 1970; `None` if the answer has no date.
    pub date: Option<u64>,
    /// Models with the window that the server reports for them, in tokens; the first ones of its list. Providers that
    /// tell windows only to who has a key have none here.
    pub windows: Vec<(String, u64)>,
}

/// The step at which reaching a provider failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeTrouble {
    /// The host name could not be resolved.
    #[error("the host is not found")]
    Name,
    /// No connection could be made, with the system's reason.
    #[error("{}", unconnected(*.0))]
    Connect(std::io::ErrorKind),
    /// There is a connection but no HTTP answer: TLS failed, or the server speaks another protocol.
    #[error("it takes a connection, and does not answer: {0}")]
    Answer(String),
    /// It took longer than this limit.
    #[error("no answer within {} s", .0.as_secs())]
    Slow(Duration),
}

fn unconnected(kind: std::io::ErrorKind) -> String {
    match kind {
        std::io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        kind => format!("it takes no connection: {kind}"),
    }
}

/// Asks the upstream with this name for its list of models, or Ollama for its version, without a key. Any answer shows
/// that it can be reached. The rest of the time goes to questions about the windows of its models.
///
/// # Errors
/// The step that failed, after `limit` at the latest.
pub async fn probe(
    upstreams: &UpstreamTable,
    outgoing: &OutgoingProxy,
    name: &str,
    limit: Duration,
) -> Result<ProbedProvider, ProbeTrouble> {
    let end = Instant::now() + limit;
    let provider = Provider::named(name).unwrap_or(Provider::OpenAi);
    let path = match provider {
        Provider::OpenAi | Provider::Anthropic => "/v1/models",
        Provider::Gemini => "/v1beta/models",
        Provider::Ollama => "/api/version",
    };
    let unusable = || ProbeTrouble::Answer("the address is not usable".to_owned());
    let target = upstreams.choose(UpstreamFacts { named: Some(name), model: None, provider });
    let target = target.map_err(|_| unusable())?;
    let address = target.address(path).ok_or_else(unusable)?;
    let upstream =
        UpstreamClient::new(outgoing).map_err(|error| ProbeTrouble::Answer(error.to_string()))?;
    let answer = timeout_at(end, ask(&upstream, outgoing, address)).await;
    let (status, date) = answer.unwrap_or(Err(ProbeTrouble::Slow(limit)))?;
    // A provider that answers and then lets a question about windows wait can be reached all the same.
    let windows = timeout_at(end, listed_windows(&upstream, &target)).await.unwrap_or_default();
    Ok(ProbedProvider { status, date, windows })
}

/// Connects and sends the request, without a time limit. Returns the status and the date of the answer.
async fn ask(
    upstream: &UpstreamClient,
    outgoing: &OutgoingProxy,
    address: Uri,
) -> Result<(u16, Option<u64>), ProbeTrouble> {
    if !outgoing.is_through_proxy(&address) {
        check_connects(&address).await?;
    }
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static("midfold-doctor"));
    let answer = upstream
        .send(Method::GET, address, headers, Body::empty())
        .await
        .map_err(|error| ProbeTrouble::Answer(error.to_string()))?;
    let date = answer.headers().get(DATE).and_then(|date| date.to_str().ok());
    Ok((answer.status().as_u16(), date.and_then(millis)))
}

/// Resolves the host and connects to it, so that an error says which of the two failed.
async fn check_connects(address: &Uri) -> Result<(), ProbeTrouble> {
    let host = address.host().unwrap_or_default();
    let usual = if address.scheme_str() == Some("http") { 80 } else { 443 };
    let port = address.port_u16().unwrap_or(usual);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let addresses = lookup_host((host, port)).await.map_err(|_| ProbeTrouble::Name)?;
    let addresses: Vec<_> = addresses.collect();
    let connected = TcpStream::connect(&addresses[..]).await;
    let stream = connected.map_err(|error| ProbeTrouble::Connect(error.kind()))?;
    // On this machine, a connection to a port where nothing listens may get that very port and connect to itself.
    match stream.local_addr().ok() == stream.peer_addr().ok() {
        true => Err(ProbeTrouble::Connect(std::io::ErrorKind::ConnectionRefused)),
        false => Ok(()),
    }
}

fn millis(date: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(date).ok()?;
    u64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
