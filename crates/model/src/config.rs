//! The settings of a client, as values. Only the command line reads them from a file or the environment.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use midfold_core::Counter;
use reqwest::Url;

/// An API key. It is never written: not by `Debug`, not into errors, not into records.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A key without white space around it, because files end with a line break.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for the only header that holds it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// The most tries of a call for each kind of failure, with the first try counted. A refused key is never tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLimits {
    /// HTTP 429.
    pub rate_limited: u32,
    /// HTTP 5xx.
    pub server: u32,
    /// The connection failed or broke.
    pub network: u32,
    /// There was no answer in time.
    pub timeout: u32,
    /// The answer did not follow the protocol.
    pub garbage: u32,
}

impl Default for AttemptLimits {
    fn default() -> Self {
        Self { rate_limited: 4, server: 3, network: 3, timeout: 1, garbage: 1 }
    }
}

/// The address of a model, and how it is asked.
#[derive(Clone)]
pub struct ModelConfig {
    /// The address of the service: `https://api.openai.com/v1`, `http://127.0.0.1:8080`. It may lack `/v1`, or be the
    /// whole address of the chat endpoint.
    pub base_url: String,
    /// The model's name at the service.
    pub model: String,
    /// The key. `None` for servers that need none.
    pub key: Option<Secret>,
    /// The model's window in tokens. With `None`, nothing is cut into chunks before the server refuses a prompt as too
    /// long.
    pub window_tokens: Option<u64>,
    /// Counts the tokens of prompts. An estimate is enough: a tenth of the window is kept free for its error.
    pub counter: Arc<dyn Counter>,
    /// The longest time for one answer, from its request to its last byte. With `None`, the request's own
    /// `timeout_seconds` applies.
    pub timeout: Option<Duration>,
    /// The longest time for the whole request: all chunks, retries and pauses.
    pub ceiling: Duration,
    /// The most tries of a call.
    pub attempts: AttemptLimits,
    /// The first pause between tries. Each further pause is twice as long.
    pub backoff: Duration,
    /// The longest pause between tries. A server that asks for a longer one is not asked again.
    pub longest_pause: Duration,
    /// The most tokens of a reply, in place of the request's cap: models that reason need more tokens than they write.
    /// The reply is still judged by the request's cap.
    pub max_tokens: Option<u32>,
}

/// The default for the longest pause between tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl ModelConfig {
    /// Settings with the defaults: the request's timeout for an answer (25 s by Summarizing Evicted Turns), and 10
    /// minutes in all.
    #[must_use]
    pub fn new(base_url: &str, model: &str, counter: Arc<dyn Counter>) -> Self {
        Self {
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            key: None,
            window_tokens: None,
            counter,
            timeout: None,
            ceiling: Duration::from_secs(600),
            attempts: AttemptLimits::default(),
            backoff: Duration::from_secs(1),
            longest_pause: LONGEST_PAUSE,
            max_tokens: None,
        }
    }
}

impl fmt::Debug for ModelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("base_url", &masked(&self.base_url))
            .field("model", &self.model)
            .field("key", &self.key)
            .field("window_tokens", &self.window_tokens)
            .field("counter", &self.counter.name())
            .field("timeout", &self.timeout)
            .field("ceiling", &self.ceiling)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// The reason why a client cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The address cannot be used. The error does not contain it, because it may hold a password.
    #[error("the base URL of the model is not usable: {0}")]
    Address(&'static str),
    /// The key cannot be sent.
    #[error("the key of the model holds characters that no header may hold")]
    Key,
    /// TLS or the connection pool could not be set up.
    #[error("the HTTP client could not be set up: {0}")]
    Client(String),
}

/// An address without its credentials and without its query, which may hold some.
pub fn masked(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) => {
            let had = !url.username().is_empty() || url.password().is_some();
            let _ = (url.set_username(""), url.set_password(None));
            if url.query().is_some() {
                url.set_query(Some("***"));
            }
            let text = url.to_string();
            if had { text.replacen("://", "://***@", 1) } else { text }
        }
        Err(_) => "(not a URL)".to_owned(),
    }
}

/// Whether the host of the address is this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
