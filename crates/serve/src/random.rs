//! The system's source of randomness, for keys and nonces.

use std::sync::Arc;

use midfold_proxy::RandomSource;
use ring::rand::{SecureRandom, SystemRandom};

/// Returns a function that fills bytes with randomness; it returns false if the system has none.
#[must_use]
pub fn system_random() -> RandomSource {
    let source = SystemRandom::new();
    Arc::new(move |bytes: &mut [u8]| source.fill(bytes).is_ok())
}
