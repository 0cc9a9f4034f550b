//! A source that asks a server: the routes of `midfold serve`.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use rustls_platform_verifier::BuilderVerifierExt;
use serde::Deserialize;
use serde_json::Value;

use super::{AnswerSource, LISTED, SourceQuestion, SourceTrouble};

/// The header with a client's key.
const KEY: HeaderName = HeaderName::from_static("midfold-key");
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// The most bytes of an answer that is read. The fabric of a million messages has a quarter of that.
const LONGEST: usize = 64 << 20;

/// A source that asks a server.
pub struct ServerSource {
    client: Client,
    base: Url,
}

impl ServerSource {
    /// A source for the server at this address, with a client's key if the server requires one. Does not connect yet.
    ///
    /// # Errors
    /// If the address or the key cannot be used, or if TLS cannot be set up.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, SourceTrouble> {
        let wrong = |why: &str| {
            SourceTrouble::new(&format!("the address of the server cannot be used: {why}"))
                .hint("it looks like http://127.0.0.1:7878")
        };
        let mut base = Url::parse(url).map_err(|_| wrong("it does not parse"))?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(wrong("it has to be http:// or https://"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong("it holds a name or a password"));
        }
        base.set_query(None);
        base.set_fragment(None);
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(key.trim())
                .map_err(|_| SourceTrouble::new("the key has characters that no header takes"))?;
            value.set_sensitive(true);
            headers.insert(KEY, value);
        }
        // A redirect would send the key to another server, so none is followed.
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .timeout(ANSWER)
            .default_headers(headers)
            .tls_backend_preconfigured(tls()?);
        // A proxy would look for this address on its own machine.
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(unusable)?;
        Ok(Self { client, base })
    }

    /// The address of a question.
    pub(crate) fn url(&self, ask: &SourceQuestion) -> Url {
        let mut url = self.base.clone();
        let number;
        let path: Vec<&str> = match ask {
            SourceQuestion::Sessions => vec![],
            SourceQuestion::Detail(id) => vec![id.raw()],
            SourceQuestion::Fabric(id) => vec![id.raw(), "fabric"],
            SourceQuestion::Fold(id, fold) => {
                number = fold.to_string();
                vec![id.raw(), "folds", &number]
            }
            SourceQuestion::Explain(id, _) => vec![id.raw(), "explain"],
        };
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["v1", "sessions"]).extend(path);
        }
        match ask {
            SourceQuestion::Sessions => {
                url.query_pairs_mut().append_pair("limit", &LISTED.to_string());
            }
            SourceQuestion::Explain(_, text) => {
                url.query_pairs_mut().append_pair("text", text);
            }
            _ => {}
        }
        url
    }

    /// Reads an answer, up to [`LONGEST`] bytes.
    async fn get(&self, url: Url) -> Result<(StatusCode, Vec<u8>), SourceTrouble> {
        let broken = |error: reqwest::Error| self.broken(&error);
        let mut response = self.client.get(url).send().await.map_err(broken)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > LONGEST {
                return Err(SourceTrouble::new("the server's answer is larger than what is read"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok((response.status(), body))
    }

    fn broken(&self, error: &reqwest::Error) -> SourceTrouble {
        let place = self.place();
        let reason = match error {
            error if error.is_connect() => "cannot be reached",
            error if error.is_timeout() => "does not answer in time",
            _ => "broke the connection",
        };
        SourceTrouble::new(&format!("{place} {reason}"))
            .hint("`midfold serve --store URL` is what answers there; see --server")
    }
}

impl AnswerSource for ServerSource {
    fn place(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    async fn json(&self, ask: &SourceQuestion) -> Result<Value, SourceTrouble> {
        let (status, body) = self.get(self.url(ask)).await?;
        if !status.is_success() {
            return Err(refused(&self.place(), status, &body));
        }
        serde_json::from_slice(&body).map_err(|_| {
            SourceTrouble::new(&format!("{} does not answer as midfold does", self.place()))
                .hint("name the address of a `midfold serve`")
        })
    }
}

/// The error document of a server.
#[derive(Default, Deserialize)]
struct ServerProblem {
    detail: Option<String>,
    error: Option<ProviderError>,
    #[serde(default)]
    hints: Vec<String>,
}

/// The form of an error that the clients of providers read.
#[derive(Deserialize)]
struct ProviderError {
    message: String,
}

/// The error for an answer with a status that is no success.
pub fn refused(place: &str, status: StatusCode, body: &[u8]) -> SourceTrouble {
    let problem: ServerProblem = serde_json::from_slice(body).unwrap_or_default();
    let detail = problem.detail.or(problem.error.map(|error| error.message));
    let text = detail.unwrap_or_else(|| format!("{place} answers with status {status}"));
    let trouble = SourceTrouble::new(&text);
    match status {
        // The server's hints name routes of the API; here a hint for the command line is more useful.
        StatusCode::NOT_FOUND => {
            trouble.hint("`midfold top` without SESSION lists those that are there")
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            trouble.hint("give a key that may read sessions: --key-file FILE, or MIDFOLD_KEY")
        }
        _ => problem.hints.iter().fold(trouble, |trouble, hint| trouble.hint(hint)),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// TLS with ring, for this client only, because a library should not set a provider for the whole process.
fn tls() -> Result<rustls::ClientConfig, SourceTrouble> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(unusable)?;
    Ok(builder.with_no_client_auth())
}

fn unusable(error: impl std::fmt::Display) -> SourceTrouble {
    SourceTrouble::new(&format!("a client for HTTP cannot be set up: {error}"))
}
