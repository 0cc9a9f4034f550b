//! Decides whether to try again, and after which pause. Pure: pauses are values.

use std::time::Duration;

use midfold_core::Hash;
use midfold_core::narrate::FailureClass;

use crate::config::{AttemptLimits, ModelConfig};

/// The most tries of a call with this failure.
pub(crate) fn tries(attempts: &AttemptLimits, class: FailureClass) -> u32 {
    match class {
        FailureClass::RateLimited => attempts.rate_limited,
        FailureClass::Server => attempts.server,
        FailureClass::Network => attempts.network,
        FailureClass::Timeout => attempts.timeout,
        FailureClass::Garbage => attempts.garbage,
        // A wrong key stays wrong, and a prompt that is too long is cut before it is sent again.
        FailureClass::Auth | FailureClass::Overflow | FailureClass::Rejected => 1,
    }
}

/// The pause after the `tried`th failure (from 1), or `None` to give up. It is the time for which the server asks, or
/// else the backoff, doubled with every try, with up to half of it added. That jitter comes from the request's id, so
/// that two requests do not retry in step and a test gets the same pauses.
pub fn pause(
    config: &ModelConfig,
    id: Hash,
    class: FailureClass,
    tried: u32,
    retry_after: Option<Duration>,
) -> Option<Duration> {
    if tried >= tries(&config.attempts, class) {
        return None;
    }
    if let Some(wait) = retry_after {
        // An earlier try would be refused again.
        return (wait <= config.longest_pause).then_some(wait);
    }
    let doubled = config.backoff.saturating_mul(1 << (tried - 1).min(16));
    let jitter = u32::from(id.0[tried as usize % id.0.len()]);
    Some((doubled + doubled * jitter / 512).min(config.longest_pause))
}

/// The value of `Retry-After` in seconds, with decimals. Dates are not read, since that needs a clock.
pub fn retry_after(value: &str) -> Option<Duration> {
    let seconds: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
