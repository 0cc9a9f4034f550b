//! midfold over HTTP: a transparent proxy between an agent and its provider, which folds what does not
//! fit the window.
//!
//! The modules:
//!
//! - [`config`] says what is served and where to. `app` ties the modules together. `server` starts and stops.
//! - `listen` takes connections, with `tls` where there is a certificate.
//! - `keys` says who may ask, and `admit` lets them in. `guard` bounds a body, and `unpack` unpacks it.
//! - `route` reads a path. `upstreams` and `route_hints` say where a request goes.
//! - `windows` says how much the model there holds, and `used_windows` what that was so far.
//! - `forward` takes one request through: `proxy_request` is its head, and `upstream_call` sends it and takes its answer.
//! - `upstream` is the way to the provider. `tee` reads an answer while it passes.
//! - `reply` chooses the part of the answer that the client gets.
//! - `rounds` and `joined_streams` answer calls of recall in between, whole and in a stream.
//! - `vendor` does the work of vendors' compaction.
//! - `traces` follows requests for a collector of traces.
//! - `keeper` writes to the store, and `narrator` asks a model.
//!
//! What a request needs is decided by [`midfold_proxy`]; nothing here looks into a message.

mod admit;
mod answers;
mod api;
mod app;
mod body;
mod broken_answers;
mod compute;
pub mod config;
mod console;
mod desk;
mod forward;
mod guard;
mod handlers;
mod headers;
mod joined_streams;
mod keeper;
mod keys;
mod limits;
mod listen;
mod logged;
mod mcp;
mod metrics;
mod narrator;
mod origin;
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
pub use probe::{ProbeTrouble, ProbedProvider, probe};
pub use provider::{ProviderKeyError, ProviderKeys};
pub use random::system_random;
pub use server::{RunningServer, ServeError, start};
pub use tls::{TlsError, TlsIdentity};
pub use totals::ServerTotals;
pub use traces::TraceCollector;
pub use upstream::OutgoingProxy;
pub use upstreams::{ConfigError, UpstreamTable};

/// What the tests of this crate reach, and nobody else: no part of the interface, and free to change.
#[doc(hidden)]
pub mod inside {
    use hyper::{HeaderMap, Uri};

    use crate::keys::ApiKeys;
    use crate::provider::{Provider, ProviderKeys};
    use crate::upstreams::{UpstreamFacts, UpstreamTable};

    pub use crate::body::BodyMemory;
    pub use crate::guard::BodyEnd;
    pub use crate::headers::{for_upstream, is_off, who};
    pub use crate::keys::bucket::Bucket;
    pub use crate::keys::places::take;
    pub use crate::metrics::PassCause;
    pub use crate::origin::{OriginRefusal, may_ask};
    pub use crate::reading::UnreadReason;
    pub use crate::route::{HistoryRequest, RequestRoute, RouteWork, route};
    pub use crate::unpack::{BodyPacking, PIECE, WINDOW};

    // Methods of types that everybody sees: as functions here, so that nobody else sees them.

    /// Where a request with this path and query goes, that names a place and a model.
    pub fn address(
        upstreams: &UpstreamTable,
        provider: Provider,
        (named, model): (Option<&str>, Option<&str>),
        path: &str,
    ) -> Option<Uri> {
        upstreams.choose(UpstreamFacts { named, model, provider }).ok()?.address(path)
    }

    /// Gives a request the key of an upstream, where there is one.
    pub fn give(keys: &ProviderKeys, name: &str, way: Provider, headers: &mut HeaderMap) -> bool {
        keys.give(name, way, headers)
    }

    /// These keys, after `before`.
    pub fn keys_after(keys: ApiKeys, before: &ApiKeys) -> ApiKeys {
        keys.after(before)
    }

    /// One request with a key; none where nobody has it. Refused with the seconds until there may be one.
    pub fn asks(keys: &ApiKeys, key: &str, now: u64) -> Option<Result<(), u64>> {
        keys.holder(key).map(|holder| holder.asks(now))
    }
}
