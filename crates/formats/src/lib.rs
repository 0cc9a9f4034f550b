//! Wire formats: the only crate that knows what a message looks like on the wire.
//!
//! | modules | what they know |
//! |---|---|
//! | [`dialect`], [`role`], [`media`] | how each provider writes a message: the views of its parts |
//! | [`request`], [`answer`], [`usage`] | requests and answers as they pass through a proxy, whole and as streams |
//! | [`profile`], [`verify`] | the rules of each provider, and what breaks them |
//! | [`read`], [`transcript`], [`scan`] | files of transcripts: which client wrote them, and their conversations |
//! | [`convert`], [`trajectory`] | the same messages in another dialect, or as training data |
//! | [`vendor`], [`server`], [`overflow`] | compaction by vendors, what servers say of themselves, and "too long" |
//! | [`recall_tool`] | the tools that the proxy offers, in each dialect |
//! | [`voices`], [`wrappers`], [`recaps`] | who speaks in a message: the user, an application, or a recap |
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod answer;
mod client_words;
pub mod convert;
pub mod dialect;
mod elements;
mod fences;
mod fields;
mod labels;
mod lines;
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
pub mod reminders;
mod render;
pub mod request;
pub mod role;
pub mod scan;
pub mod server;
mod spelling;
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
