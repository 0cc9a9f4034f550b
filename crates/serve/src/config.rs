//! The settings of a server. Values only: who reads them from flags, files or the environment is
//! the command line.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use midfold::model::ModelClient;
use midfold::store::Store;
use midfold_proxy::{CompactionPreference, ProxyRules, RandomSource, SealKey};

use crate::keys::ApiKeys;
use crate::limits::ServeLimits;
use crate::origin::AllowedOrigins;
pub use crate::provider::Provider;
use crate::provider::ProviderKeys;
use crate::random::system_random;
use crate::tls::TlsIdentity;
use crate::traces::TraceCollector;
use crate::upstream::OutgoingProxy;
use crate::upstreams::UpstreamTable;

/// Milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Bytes of one request that are read into memory to look at its messages; a larger one passes unread.
const LONGEST_REQUEST: usize = 64 << 20;
/// Bytes of all requests that are in memory at a time; what is more passes unread.
const ALL_REQUESTS: usize = 512 << 20;
/// How long requests that are under way may take to end after the server was asked to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// The settings of a server: what it serves, and where to.
pub struct ServeConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstreams: UpstreamTable,
    /// How they get there.
    pub outgoing: OutgoingProxy,
    /// By which rules requests are folded.
    pub rules: ProxyRules,
    /// A fault of ours is answered with an error instead of the request going on as it came.
    pub is_strict: bool,
    /// Bytes of one request that are read into memory; a larger one passes unread.
    pub longest_request: usize,
    /// Bytes of all requests that are in memory at a time; what is more passes unread.
    pub all_requests: usize,
    /// How long requests that are under way may take to end after the server was asked to stop.
    pub drain: Duration,
    /// How long requests may take, and how many connections there may be.
    pub limits: ServeLimits,
    /// Whoever has one of these may ask; everybody where there are none.
    pub keys: Option<ApiKeys>,
    /// The providers' keys for those who have one of ours in their place.
    pub provider_keys: ProviderKeys,
    /// Whose pages may ask beside the server's own.
    pub origins: AllowedOrigins,
    /// The certificate to serve TLS with; plain HTTP without one.
    pub tls: Option<TlsIdentity>,
    /// Where conversations are kept; only in memory without one.
    pub store: Option<Arc<dyn Store>>,
    /// Who narrates in the background; nobody without one.
    pub narration: Option<ServeNarration>,
    /// Who collects traces of requests; nobody without one.
    pub collector: Option<TraceCollector>,
    /// Who does the compaction that clients ask vendors for.
    pub prefer: CompactionPreference,
    /// Keys that seal what clients carry of such compactions: the first one seals, all open. Without any,
    /// a key of this process: what it seals does not open after a restart.
    pub seal: Option<Vec<SealKey>>,
    /// Where nonces and the key of this process come from.
    pub random: RandomSource,
    /// The time.
    pub clock: Clock,
}

impl ServeConfig {
    /// The defaults: a free port of this machine, the providers themselves.
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

/// A model, and what it may cost.
pub struct ServeNarration {
    /// The model.
    pub client: ModelClient,
    /// Narrations an hour.
    pub calls_an_hour: u32,
    /// Tokens an hour, of prompts and replies, as the model's service reports them.
    pub tokens_an_hour: u64,
}
