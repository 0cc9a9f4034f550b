//! Randomness of the system, for keys and nonces.

use std::sync::Arc;

use midfold_proxy::RandomSource;
use ring::rand::{SecureRandom, SystemRandom};

/// Fills bytes from the system's source; false where the system gives none.
#[must_use]
pub fn system_random() -> RandomSource {
    let source = SystemRandom::new();
    Arc::new(move |bytes: &mut [u8]| source.fill(bytes).is_ok())
}
