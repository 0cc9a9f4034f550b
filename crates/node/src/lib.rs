//! midfold for Node: JSON in, JSON out. No rule lives here; what a call does is in the crates below. The
//! package in `node/` turns objects into JSON, and gives a host its own objects back.

mod clock;
mod compact;
mod count;
mod errors;
mod handed;
mod options;
mod recall;
mod session;
mod sessions;
mod summary;
