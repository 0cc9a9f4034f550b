//! What forks are called.

use midfold::inside::fork::{id, is_of};

#[test]
fn a_fork_of_a_fork_is_one_of_the_same_session() {
    let fork = id("a~b", "0123456789abcdef");
    assert_eq!(fork, "a~b~0123456789ab");
    assert_eq!(id(&fork, "fedcba9876543210"), "a~b~fedcba987654");
    assert!(is_of(&fork, "a~b") && !is_of(&fork, "a") && !is_of("a~b", "a~b"));
}
