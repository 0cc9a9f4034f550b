//! What people see at `midfold top`: frames from states, and the sources that fill them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod canned;
mod clean;
mod figures;
mod frames;
mod hostile;
mod running;
mod source_server;
mod sources;
mod stored;
mod weave;
