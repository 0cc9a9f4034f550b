//! The fuzz target of stateful sessions on stable: any commands in any order, and what always holds
//! after each of them.
#![expect(clippy::expect_used, clippy::panic, reason = "the body says what broke")]

#[path = "../../../../fuzz/src/sessions.rs"]
mod body;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_done_to_a_session_it_holds(commands in proptest::collection::vec(any::<u8>(), 0..240)) {
        body::sessions(&commands);
    }
}
