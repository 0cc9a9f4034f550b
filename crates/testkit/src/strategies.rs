//! The generators as `proptest` strategies; a failing case is named by its seed.

use proptest::prelude::{Strategy, any};

/// A hostile conversation, its large message kept small.
pub fn hostile() -> impl Strategy<Value = Vec<String>> {
    any::<u64>().prop_map(|seed| crate::hostile(seed, 2_000))
}

/// A coding session of one to six turns, as neutral messages.
pub fn session() -> impl Strategy<Value = Vec<crate::TestMessage>> {
    (any::<u64>(), 1..6usize).prop_map(|(seed, turns)| crate::session(seed, turns))
}
