//! The tests of the counters, in one binary: it links once.

mod bpe;
mod chars;
mod estimate;
mod exact;
#[cfg(feature = "hf")]
mod hf;
mod media;
mod memo;
mod models;
mod name;
mod parts;
