//! When to try again, and after how long. Pure: the pauses are values.

use std::time::Duration;

use midfold_core::Hash;
use midfold_core::narrate::FailureClass;

use crate::config::{AttemptLimits, ModelConfig};

/// How often a call with this failure is tried in all.
pub(crate) fn tries(attempts: &AttemptLimits, class: FailureClass) -> u32 {
    match class {
        FailureClass::RateLimited => attempts.rate_limited,
        FailureClass::Server => attempts.server,
        FailureClass::Network => attempts.network,
        FailureClass::Timeout => attempts.timeout,
        FailureClass::Garbage => attempts.garbage,
        // A key does not become right; a prompt is cut, not sent again.
        FailureClass::Auth | FailureClass::Overflow | FailureClass::Rejected => 1,
    }
}

/// The pause after the `tried`th failure (from 1), or `None` to give up: what the server asked
/// for, else the backoff doubled with every try, with up to a half more. The jitter comes from the
/// request's id, so that two requests do not march in step and a test sees the same pauses.
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
    if let Some(asked) = retry_after {
        // Before that it would be refused again.
        return (asked <= config.longest_pause).then_some(asked);
    }
    let doubled = config.backoff.saturating_mul(1 << (tried - 1).min(16));
    let jitter = u32::from(id.0[tried as usize % id.0.len()]);
    Some((doubled + doubled * jitter / 512).min(config.longest_pause))
}

/// `Retry-After` in seconds, decimals allowed. Dates are not read: that takes a clock.
pub fn retry_after(value: &str) -> Option<Duration> {
    let seconds: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
