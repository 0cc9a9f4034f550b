//! midfold over HTTP: a transparent proxy between an agent and its provider, which folds what does not
//! fit the window.
//!
//! The modules:
//!
//! - [`config`] says what is served and where to. `app` ties the modules together. `server` starts and stops.
//! - `listen` takes connections, with `tls` where there is a certificate.
//! - `keys` says who may ask, and `admit` lets them in. `guard` bounds a body, and `unpack` unpacks it.
//! - `route` reads a path. `upstreams` and `aim` say where a request goes.
//! - `windows` says how much the model there holds, and `known` what that was so far.
//! - `forward` takes one request through: `way` is its head, and `trip` sends it and takes its answer.
//! - `upstream` is the way to the provider. `tee` reads an answer while it passes.
//! - `reply` chooses the part of the answer that the client gets.
//! - `rounds` and `streamed` answer calls of recall in between, whole and in a stream.
//! - `vendor` does the work of vendors' compaction.
//! - `keeper` writes to the store, and `narrator` asks a model.
//!
//! What a request needs is decided by [`midfold::proxy`]; nothing here looks into a message.

mod admit;
mod aim;
mod answers;
mod api;
mod app;
mod body;
mod breaking;
mod compute;
pub mod config;
mod console;
mod desk;
mod forward;
mod guard;
mod handlers;
mod headers;
mod keeper;
mod keys;
mod known;
mod limits;
mod listen;
mod logged;
mod mcp;
mod metrics;
mod narrator;
mod origin;
mod probe;
mod provider;
mod random;
mod reading;
mod refusal;
mod reply;
mod rounds;
mod route;
mod server;
mod streamed;
mod tee;
mod tls;
mod totals;
mod trip;
mod unpack;
mod upstream;
mod upstreams;
mod vendor;
mod way;
mod windows;

pub use api::openapi;
pub use config::{Config, Narration};
pub use keys::{Key, KeyEntry, KeyHash, Keys, KeysError, Scope};
pub use limits::Limits;
pub use origin::{NoOrigin, Origins};
pub use probe::{Answered, Trouble, probe};
pub use provider::{ProviderKeyError, ProviderKeys};
pub use random::system_random;
pub use server::{Running, ServeError, start};
pub use tls::{Tls, TlsError};
pub use totals::Totals;
pub use upstream::Outgoing;
pub use upstreams::{ConfigError, Upstreams};

/// What the tests of this crate reach, and nobody else: no part of the interface, and free to change.
#[doc(hidden)]
pub mod inside {
    use hyper::{HeaderMap, Uri};

    use crate::keys::Keys;
    use crate::provider::{Provider, ProviderKeys};
    use crate::upstreams::{Upstreams, Wanted};

    pub use crate::body::Rooms;
    pub use crate::guard::Ended;
    pub use crate::headers::{for_upstream, is_off, who};
    pub use crate::keys::bucket::Bucket;
    pub use crate::keys::places::take;
    pub use crate::metrics::Cause;
    pub use crate::origin::{Stranger, may_ask};
    pub use crate::reading::Unread;
    pub use crate::route::{Asked, Route, Work, route};
    pub use crate::unpack::{PIECE, Packing, WINDOW};

    // Methods of types that everybody sees: as functions here, so that nobody else sees them.

    /// Where a request with this path and query goes, that names a place and a model.
    pub fn address(
        upstreams: &Upstreams,
        provider: Provider,
        (named, model): (Option<&str>, Option<&str>),
        path: &str,
    ) -> Option<Uri> {
        upstreams.choose(Wanted { named, model, provider }).ok()?.address(path)
    }

    /// Gives a request the key of an upstream, where there is one.
    pub fn give(keys: &ProviderKeys, name: &str, way: Provider, headers: &mut HeaderMap) -> bool {
        keys.give(name, way, headers)
    }

    /// These keys, after `before`.
    pub fn keys_after(keys: Keys, before: &Keys) -> Keys {
        keys.after(before)
    }

    /// One request with a key; none where nobody has it. Refused with the seconds until there may be one.
    pub fn asks(keys: &Keys, key: &str, now: u64) -> Option<Result<(), u64>> {
        keys.holder(key).map(|holder| holder.asks(now))
    }
}
