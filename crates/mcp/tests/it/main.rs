//! The server as its clients see it: over a pair of streams and over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod hostile;
mod http;
mod kit;
mod lines;
mod listing;
mod owners;
mod recall;
mod resources;
mod uri;
mod which;
mod wishes;
