//! midfold over HTTP: a transparent proxy between an agent and its provider, which folds what does not
//! fit the window.
//!
//! The rooms: [`config`] says what is served and where to, `route` reads a path, `forward` takes one
//! request through, `upstream` is the way to the provider, `tee` reads an answer while it passes, `app`
//! ties them together, `server` listens. What a request needs is decided by
//! [`midfold::proxy`]; nothing here looks into a message.

mod app;
mod body;
pub mod config;
mod forward;
mod handlers;
mod headers;
mod keeper;
mod metrics;
mod narrator;
mod probe;
mod route;
mod server;
mod tee;
mod totals;
mod upstream;

pub use config::{Config, ConfigError, Upstreams};
pub use narrator::Narration;
pub use probe::{Answered, Trouble, probe};
pub use server::{Running, ServeError, start};
pub use totals::Totals;
