//! The bodies of the fuzz targets; a test of the main workspace replays the seeds through them.

mod bodies;
mod sessions;

pub use bodies::{answer, compact, read, request, vendor, verify};
pub use sessions::sessions;
