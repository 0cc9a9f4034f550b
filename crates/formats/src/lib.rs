//! Wire formats: the only crate that knows what a message looks like on the wire.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod answer;
pub mod convert;
pub mod dialect;
mod fences;
mod fields;
mod labels;
pub mod media;
mod origins;
pub mod overflow;
mod own_tools;
pub mod problem;
pub mod profile;
mod programs;
pub mod read;
pub mod recall_tool;
pub mod recaps;
mod render;
pub mod request;
pub mod role;
pub mod scan;
pub mod server;
mod steers;
pub mod trajectory;
pub mod transcript;
pub mod usage;
pub mod vendor;
pub mod verify;
pub mod voices;
pub mod wrappers;

pub use dialect::DialectKind;
pub use problem::ReadProblem;
