//! The bodies of the fuzz targets; a test of the main workspace replays the seeds through them.

mod bodies;
mod sessions;

pub use bodies::{compact, read, verify};
pub use sessions::sessions;
