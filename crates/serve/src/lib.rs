//! midfold over HTTP: a transparent proxy between an agent and its provider, which folds what does not
//! fit the window.
//!
//! The rooms: [`config`] says what is served and where to, `route` reads a path, `forward` takes one
//! request through, `vendor` does what vendors' compaction would, `keys` says who may ask, `admit` lets them
//! in, `guard` bounds a body, `unpack` unpacks it, `upstream` is the way to the provider, `tee` reads an answer
//! while it passes, `keeper` writes to the store and `narrator` asks a model, `app` ties them together, `listen`
//! takes connections, with `tls` where there is a certificate, `server` starts and stops. What a request needs is decided by
//! [`midfold::proxy`]; nothing here looks into a message.

mod admit;
mod answers;
mod api;
mod app;
mod body;
mod compute;
pub mod config;
mod console;
mod forward;
mod guard;
mod handlers;
mod headers;
mod keeper;
mod keys;
mod limits;
mod listen;
mod mcp;
mod metrics;
mod narrator;
mod probe;
mod provider;
mod random;
mod route;
mod server;
mod tee;
mod tls;
mod totals;
mod unpack;
mod upstream;
mod vendor;

pub use api::openapi;
pub use config::{Config, ConfigError, Narration, Upstreams};
pub use keys::{Key, KeyEntry, KeyHash, Keys, KeysError, Scope};
pub use limits::Limits;
pub use probe::{Answered, Trouble, probe};
pub use provider::{ProviderKeyError, ProviderKeys};
pub use random::system_random;
pub use server::{Running, ServeError, start};
pub use tls::{Tls, TlsError};
pub use totals::Totals;
