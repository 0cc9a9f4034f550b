//! The generators as `proptest` strategies. The seed of a failing case reproduces it.

use proptest::prelude::{Strategy, any};

/// A hostile conversation whose large message has only 2,000 bytes.
pub fn hostile() -> impl Strategy<Value = Vec<String>> {
    any::<u64>().prop_map(|seed| crate::hostile(seed, 2_000))
}

/// A coding session of one to five turns, not yet in any dialect.
pub fn session() -> impl Strategy<Value = Vec<crate::TestMessage>> {
    (any::<u64>(), 1..6usize).prop_map(|(seed, turns)| crate::session(seed, turns))
}
