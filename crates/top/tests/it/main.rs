//! What people see at `midfold top`: frames from states, and the sources that fill them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod canned;
mod frames;
mod hostile;
mod running;
mod sources;
mod stored;
