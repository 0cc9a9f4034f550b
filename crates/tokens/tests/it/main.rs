//! The tests of the counters, in one binary: it links once.

mod estimate;
mod exact;
