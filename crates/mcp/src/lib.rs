//! midfold over the Model Context Protocol: an agent finds messages that were folded.
//!
//! The server answers from a store of sessions: with the five tools of [`midfold::store::recall`], `explain` and
//! `sessions`, and with the recap of each session as a resource. It only reads, except for `compact`, `pin` and `note`,
//! by which an agent changes its own session; a [`SessionScope`] has to allow these. The scope also says which sessions
//! a client may see. [`serve_over`] serves one client over a pair of streams, [`serve_stdio`] over standard input and
//! output, and [`http_service`] serves many clients over HTTP.

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

/// Items that the tests of this crate use. They are not part of the interface, and may change at any time.
#[doc(hidden)]
pub mod inside {
    pub use crate::listing::{SHOWN, first_line, time};
    pub use crate::uri::{of_recap, session};
}
