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

/// Inputs that broke something once.
#[test]
fn what_was_found_in_sessions_stays_fixed() {
    let counted_without_a_message = [
        0, 24, 120, 136, 0, 224, 178, 15, 80, 0, 54, 0, 154, 0, 97, 0, 0, 5, 5, 5, 21, 5, 15, 176,
        76, 0, 17, 0, 17, 131, 114, 0, 7, 22, 10, 136, 0, 32, 43, 15, 210, 0, 149, 7, 171, 93, 19,
        42, 80, 150,
    ];
    body::sessions(&counted_without_a_message);
}
