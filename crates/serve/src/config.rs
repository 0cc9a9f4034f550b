//! What is served, and where to. Values only: who reads them from flags, files or the environment is
//! the command line.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use midfold::model::Client;
use midfold::proxy::{Prefer, Random, Rules, SealKey};
use midfold::store::Store;

use crate::keys::Keys;
use crate::limits::Limits;
use crate::origin::Origins;
pub use crate::provider::Provider;
use crate::provider::ProviderKeys;
use crate::random::system_random;
use crate::tls::Tls;

/// Milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Bytes of one request that are read into memory to look at its messages; a larger one passes unread.
const LONGEST_REQUEST: usize = 64 << 20;
/// Bytes of all requests that are in memory at a time; what is more passes unread.
const ALL_REQUESTS: usize = 512 << 20;
/// How long requests that are under way may take to end after the server was told to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// What is served, and where to.
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstreams: Upstreams,
    /// By which rules requests are folded.
    pub rules: Rules,
    /// A fault of ours is answered with an error instead of the request going on as it came.
    pub is_strict: bool,
    /// Bytes of one request that are read into memory; a larger one passes unread.
    pub longest_request: usize,
    /// Bytes of all requests that are in memory at a time; what is more passes unread.
    pub all_requests: usize,
    /// How long requests that are under way may take to end after the server was told to stop.
    pub drain: Duration,
    /// How long requests may take, and how many connections there may be.
    pub limits: Limits,
    /// Whoever has one of these may ask; everybody where there are none.
    pub keys: Option<Keys>,
    /// The providers' keys for those who have one of ours in their place.
    pub provider_keys: ProviderKeys,
    /// Whose pages may ask beside the server's own.
    pub origins: Origins,
    /// The certificate to serve TLS with; plain HTTP without one.
    pub tls: Option<Tls>,
    /// Where conversations are kept; only in memory without one.
    pub store: Option<Arc<dyn Store>>,
    /// Who narrates in the background; nobody without one.
    pub narration: Option<Narration>,
    /// Who does the compaction that clients ask vendors for.
    pub prefer: Prefer,
    /// Keys that seal what clients carry of such compactions: the first one seals, all open. Without any,
    /// a key of this process: what it seals does not open after a restart.
    pub seal: Option<Vec<SealKey>>,
    /// Where nonces and the key of this process come from.
    pub random: Random,
    /// The time.
    pub clock: Clock,
}

impl Config {
    /// The defaults: a free port of this machine, the providers themselves.
    #[must_use]
    pub fn new(rules: Rules, clock: Clock) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            upstreams: Upstreams::default(),
            rules,
            is_strict: false,
            longest_request: LONGEST_REQUEST,
            all_requests: ALL_REQUESTS,
            drain: DRAIN,
            limits: Limits::default(),
            keys: None,
            provider_keys: ProviderKeys::default(),
            origins: Origins::default(),
            tls: None,
            store: None,
            narration: None,
            prefer: Prefer::default(),
            seal: None,
            random: system_random(),
            clock,
        }
    }
}

/// A model, and what it may cost.
pub struct Narration {
    /// The model.
    pub client: Client,
    /// Narrations an hour.
    pub calls_an_hour: u32,
    /// Tokens an hour, of prompts and replies, as the model's service reports them.
    pub tokens_an_hour: u64,
}

/// Where requests go, by the provider whose format they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstreams {
    openai: Base,
    anthropic: Base,
    gemini: Base,
}

/// The start of an address, and whether its path ends with the version that paths start with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Base {
    origin: String,
    path: String,
}

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// An address that no request can be sent to. The text holds none of it: it may carry a password.
    #[error("the upstream {0} is not usable: it has to be http://HOST… or https://HOST…")]
    Address(&'static str),
    /// A name that no provider has.
    #[error("there is no provider `{0}`: openai, anthropic or gemini")]
    Provider(String),
}

impl Default for Upstreams {
    fn default() -> Self {
        let base = |origin: &str| Base { origin: origin.to_owned(), path: String::new() };
        Self {
            openai: base("https://api.openai.com"),
            anthropic: base("https://api.anthropic.com"),
            gemini: base("https://generativelanguage.googleapis.com"),
        }
    }
}

impl Upstreams {
    /// Sets where requests go: `NAME=URL` for one provider, `URL` alone for all.
    ///
    /// ```
    /// use midfold_serve::Upstreams;
    /// let mut upstreams = Upstreams::default();
    /// upstreams.set("openai=http://127.0.0.1:8080/v1")?;
    /// assert_eq!(upstreams.to_string(), "openai=http://127.0.0.1:8080/v1 \
    ///     anthropic=https://api.anthropic.com gemini=https://generativelanguage.googleapis.com");
    /// # Ok::<(), midfold_serve::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such provider, or the address is none.
    pub fn set(&mut self, said: &str) -> Result<(), ConfigError> {
        let named = said.split_once('=').filter(|(name, _)| !name.contains(['/', ':']));
        let Some((name, url)) = named else {
            let base = Base::read("", said)?;
            *self = Self { openai: base.clone(), anthropic: base.clone(), gemini: base };
            return Ok(());
        };
        let provider = Provider::ALL.into_iter().find(|provider| provider.name() == name);
        let provider = provider.ok_or_else(|| ConfigError::Provider(name.to_owned()))?;
        *self.of_mut(provider) = Base::read(provider.name(), url)?;
        Ok(())
    }

    fn of_mut(&mut self, provider: Provider) -> &mut Base {
        match provider {
            Provider::OpenAi => &mut self.openai,
            Provider::Anthropic => &mut self.anthropic,
            Provider::Gemini => &mut self.gemini,
        }
    }

    fn of(&self, provider: Provider) -> &Base {
        match provider {
            Provider::OpenAi => &self.openai,
            Provider::Anthropic => &self.anthropic,
            Provider::Gemini => &self.gemini,
        }
    }

    /// Where requests to a provider go, as it was said.
    #[must_use]
    pub fn url(&self, provider: Provider) -> String {
        let Base { origin, path } = self.of(provider);
        format!("{origin}{path}")
    }

    /// The address that a request with this path and query goes to.
    pub(crate) fn address(&self, provider: Provider, path_and_query: &str) -> Option<Uri> {
        let Base { origin, path } = self.of(provider);
        // `…/v1` is how base URLs of OpenAI's are written, and what clients put in front as well.
        let rest = match path.rsplit_once('/') {
            Some((_, version)) if is_version(version) => {
                let after =
                    path_and_query.strip_prefix('/').and_then(|it| it.strip_prefix(version));
                after
                    .filter(|it| it.is_empty() || it.starts_with(['/', '?']))
                    .unwrap_or(path_and_query)
            }
            _ => path_and_query,
        };
        format!("{origin}{path}{rest}").parse().ok()
    }
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

impl Base {
    fn read(name: &'static str, url: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::Address(name);
        let uri: Uri = url.trim().parse().map_err(|_| wrong())?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let (scheme, authority) = scheme.zip(uri.authority()).ok_or_else(wrong)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(wrong());
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { origin: format!("{scheme}://{authority}"), path })
    }
}

impl std::fmt::Display for Upstreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, provider) in Provider::ALL.into_iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{}={}", provider.name(), self.url(provider))?;
        }
        Ok(())
    }
}
