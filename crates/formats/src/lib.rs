//! Wire formats: the only crate that knows what a message looks like on the wire.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod dialect;
pub mod problem;
pub mod read;
pub mod scan;

pub use problem::Problem;
