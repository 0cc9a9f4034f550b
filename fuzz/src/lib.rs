//! The bodies of the fuzz targets; a test of the main workspace replays the seeds through them.

mod bodies;

pub use bodies::{compact, read, verify};
