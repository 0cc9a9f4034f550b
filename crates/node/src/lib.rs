//! midfold for Node: JSON in, JSON out. The rules are in the crates below. The package in `node/` turns objects into
//! JSON, and returns a host's own objects for messages that were kept.

pub mod clock;
pub mod compact;
pub mod context;
pub mod count;
pub mod errors;
pub mod options;
pub mod recall;
pub mod session;
pub mod sessions;
pub mod summary;
