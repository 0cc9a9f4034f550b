//! midfold over HTTP: a transparent proxy between an agent and its provider, which folds requests that do not fit the
//! window.
//!
//! The modules:
//!
//! - [`config`] has the settings. `app` is the shared state. `server` starts and stops.
//! - `listen` accepts connections, with `tls` if there is a certificate.
//! - `keys` has the clients' keys, and `admit` checks them. `guard` bounds a body, and `unpack` decompresses it.
//! - `api` is the API of sessions, `desk` its sessions and feed, `mcp` the same for models, and `console` the pages.
//! - `handlers` connects paths with all of these. `logged`, `metrics` and `totals` say what was done.
//! - `route` reads a path. `upstreams` and `route_hints` decide where a request is sent.
//! - `windows` asks upstreams for the windows of models, and `used_windows` remembers those that were used.
//! - `forward` handles one request. `proxy_request` holds its method, path and headers; `upstream_call` sends it and reads
//!   the answer.
//! - `upstream` is the HTTP client for providers; `kept_connection` says what it sends once more. `tee` reads an answer while it is passed on.
//! - `reply` chooses how the answer is passed on.
//! - `rounds` and `joined_streams` answer calls of midfold's tools, in whole answers and in streams.
//! - `vendor` handles vendors' compaction.
//! - `traces` sends traces of requests to a collector.
//! - `keeper` writes to the store, and `narrator` asks a model.
//!
//! [`midfold_proxy`] decides what is sent; no code here looks into a message.

mod admit;
mod answers;
mod api;
mod app;
mod body;
mod broken_answers;
mod busy_sessions;
mod compute;
pub mod config;
mod console;
mod desk;
mod forward;
mod generate;
mod guard;
mod handlers;
mod headers;
mod joined_streams;
mod keeper;
mod kept_connection;
mod keys;
mod limits;
mod listen;
mod logged;
mod mcp;
mod metric_labels;
mod metrics;
mod narrator;
mod origin;
mod outgoing;
mod pass_cause;
mod probe;
mod provider;
mod proxy_request;
mod random;
mod reading;
mod refusal;
mod reply;
mod rounds;
mod route;
mod route_hints;
mod server;
mod tee;
mod tls;
mod totals;
mod traces;
mod unpack;
mod upstream;
mod upstream_call;
mod upstreams;
mod used_windows;
mod vendor;
mod windows;

pub use api::openapi;
pub use config::{ServeConfig, ServeNarration};
pub use keys::{ApiKey, ApiKeys, KeyEntry, KeyHash, KeyScope, KeysError};
pub use limits::ServeLimits;
pub use origin::{AllowedOrigins, NoOrigin};
pub use outgoing::{OutgoingProxy, ProxyAddress, ProxyAddressError};
pub use probe::{ProbeTrouble, ProbedProvider, probe};
pub use provider::{ProviderKeyError, ProviderKeys};
pub use random::system_random;
pub use server::{RunningServer, ServeError, start};
pub use tls::{TlsError, TlsIdentity};
pub use totals::ServerTotals;
pub use traces::TraceCollector;
pub use upstreams::{ConfigError, UpstreamTable};

/// Items that the tests of this crate use. They are not part of the interface, and may change at any time.
#[doc(hidden)]
pub mod inside {
    use hyper::{HeaderMap, Uri};

    use crate::keys::ApiKeys;
    use crate::provider::{Provider, ProviderKeys};
    use crate::upstreams::{UpstreamFacts, UpstreamTable};

    pub use crate::body::BodyMemory;
    pub use crate::guard::BodyEnd;
    pub use crate::headers::{for_client, for_upstream, is_off, who};
    pub use crate::keys::bucket::Bucket;
    pub use crate::keys::places::take;
    pub use crate::metric_labels::{MOST_MODELS, ModelNames};
    pub use crate::origin::{OriginRefusal, may_ask};
    pub use crate::pass_cause::PassCause;
    pub use crate::reading::UnreadReason;
    pub use crate::route::{HistoryRequest, RequestRoute, RouteWork, route};
    pub use crate::unpack::{BodyPacking, PIECE, WINDOW};

    /// What the API says of a problem with this code.
    pub fn problem_title(code: &str) -> &'static str {
        crate::api::problem::title(code)
    }

    // Methods of public types are made functions here, so that they stay private for everybody else.

    /// The address that a request is sent to, if it names this upstream and model.
    pub fn address(
        upstreams: &UpstreamTable,
        provider: Provider,
        (named, model): (Option<&str>, Option<&str>),
        path: &str,
    ) -> Option<Uri> {
        upstreams.choose(UpstreamFacts { named, model, provider }).ok()?.address(path)
    }

    /// Whether the upstream with this name is on this machine or in its own network.
    pub fn is_local(upstreams: &UpstreamTable, name: &str) -> bool {
        let wanted = UpstreamFacts { named: Some(name), model: None, provider: Provider::OpenAi };
        upstreams.choose(wanted).is_ok_and(|target| target.is_local())
    }

    /// Adds the server's key for an upstream to a request. Returns false if it has none.
    pub fn give(
        keys: &ProviderKeys,
        name: &str,
        provider: Provider,
        headers: &mut HeaderMap,
    ) -> bool {
        keys.give(name, provider, headers)
    }

    /// These keys, in the place of `before`.
    pub fn keys_after(keys: ApiKeys, before: &ApiKeys) -> ApiKeys {
        keys.after(before)
    }

    /// Counts one request with a key; `None` if nobody has it. The error is the number of seconds until one is allowed.
    pub fn count_request(keys: &ApiKeys, key: &str, now: u64) -> Option<Result<(), u64>> {
        keys.holder(key).map(|holder| holder.count_request(now))
    }
}
