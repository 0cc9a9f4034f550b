//! midfold for Node: JSON in, JSON out. No rule lives here; what a call does is in the crates below. The
//! package in `node/` turns objects into JSON, and gives a host its own objects back.

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
