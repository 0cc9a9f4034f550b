//! midfold over the Model Context Protocol: an agent finds again what was folded away.
//!
//! The server answers over a store of sessions: the five tools of [`midfold::store::recall`], `explain`,
//! `sessions`, and the recap of each session as a resource. It reads; what an agent says of its own session (`compact`,
//! `pin`, `note`) is written for a [`SessionScope`] that may. [`serve_over`] speaks to one client over a pair of streams,
//! [`serve_stdio`] over standard input and output, and [`http_service`] to many over HTTP. Which sessions a client may see
//! is its [`SessionScope`], too.

mod answer;
mod call;
mod choose;
mod explain;
mod http;
mod lines;
mod listing;
mod request;
mod resources;
mod scope;
mod server;
mod sessions;
mod stdio;
mod tools;
mod uri;
mod wishes;

pub use self::http::{HttpService, SESSION_HEADER, http_service};
pub use self::scope::SessionScope;
pub use self::server::McpServer;
pub use self::sessions::StoreSource;
pub use self::stdio::{ServeError, serve_over, serve_stdio};

/// What the tests of this crate reach, and nobody else: no part of the interface, and free to change.
#[doc(hidden)]
pub mod inside {
    pub use crate::listing::{SHOWN, first_line, time};
    pub use crate::uri::{of_recap, session};
}
