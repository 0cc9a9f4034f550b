//! The settings of a server, as plain values. The command line reads them from flags, files and the environment.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use midfold::model::ModelClient;
use midfold::store::Store;
use midfold_proxy::{CompactionPreference, ProxyRules, RandomSource, SealKey};

use crate::keys::ApiKeys;
use crate::limits::ServeLimits;
use crate::origin::AllowedOrigins;
use crate::outgoing::OutgoingProxy;
pub use crate::provider::Provider;
use crate::provider::ProviderKeys;
use crate::random::system_random;
use crate::tls::TlsIdentity;
use crate::traces::TraceCollector;
use crate::upstreams::UpstreamTable;

/// Returns milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// See [`ServeConfig::longest_request`].
const LONGEST_REQUEST: usize = 64 << 20;
/// See [`ServeConfig::all_requests`].
const ALL_REQUESTS: usize = 512 << 20;
/// See [`ServeConfig::drain`].
const DRAIN: Duration = Duration::from_secs(30);

/// The settings of a server: what it serves, and where it sends requests.
pub struct ServeConfig {
    /// The address to listen on; with port 0, a free port is chosen.
    pub listen: SocketAddr,
    /// The upstreams that requests are sent to.
    pub upstreams: UpstreamTable,
    /// The HTTP proxy, if any, through which requests leave.
    pub outgoing: OutgoingProxy,
    /// The rules by which requests are folded.
    pub rules: ProxyRules,
    /// With this, a fault of midfold's is answered with an error. Otherwise the request is sent unchanged.
    pub is_strict: bool,
    /// The bytes of one request that are read into memory to find its messages. A larger one is forwarded unread; with
    /// `is_strict`, it is refused.
    pub longest_request: usize,
    /// The bytes of all requests that are in memory at a time. Requests beyond it are forwarded unread, or refused.
    pub all_requests: usize,
    /// How long running requests may take to end after the server was asked to stop.
    pub drain: Duration,
    /// How long requests may take, and how many connections there may be.
    pub limits: ServeLimits,
    /// The keys of clients; `None` means that requests need no key.
    pub keys: Option<ApiKeys>,
    /// The server's own keys for providers, for clients that send a midfold serve key in that place.
    pub provider_keys: ProviderKeys,
    /// The origins whose pages may send requests, beside the server's own.
    pub origins: AllowedOrigins,
    /// The certificate for TLS; `None` means plain HTTP.
    pub tls: Option<TlsIdentity>,
    /// The store of conversations; `None` means that they are kept in memory only.
    pub store: Option<Arc<dyn Store>>,
    /// The model that narrates in the background; `None` for no narration.
    pub narration: Option<ServeNarration>,
    /// The collector of traces; `None` for no traces.
    pub collector: Option<TraceCollector>,
    /// Who carries out compactions that clients ask their vendors for.
    pub prefer: CompactionPreference,
    /// Keys that seal the compactions that clients carry with them: the first one seals, all open. `None` means a
    /// random key of this process; its compactions do not open after a restart.
    pub seal: Option<Vec<SealKey>>,
    /// The source of nonces, and of the random key.
    pub random: RandomSource,
    /// Returns the time.
    pub clock: Clock,
}

impl ServeConfig {
    /// The defaults: a free port of this machine, and the providers themselves as upstreams.
    #[must_use]
    pub fn new(rules: ProxyRules, clock: Clock) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            upstreams: UpstreamTable::default(),
            outgoing: OutgoingProxy::default(),
            rules,
            is_strict: false,
            longest_request: LONGEST_REQUEST,
            all_requests: ALL_REQUESTS,
            drain: DRAIN,
            limits: ServeLimits::default(),
            keys: None,
            provider_keys: ProviderKeys::default(),
            origins: AllowedOrigins::default(),
            tls: None,
            store: None,
            narration: None,
            collector: None,
            prefer: CompactionPreference::default(),
            seal: None,
            random: system_random(),
            clock,
        }
    }
}

/// A model that narrates, and its limits.
pub struct ServeNarration {
    /// The model.
    pub client: ModelClient,
    /// The most narrations an hour.
    pub calls_an_hour: u32,
    /// The most tokens an hour, of prompts and answers, as the model's service reports them.
    pub tokens_an_hour: u64,
}
