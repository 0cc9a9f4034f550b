//! When to try again, and after how long. Pure: the pauses are values.

use std::time::Duration;

use midfold_core::Hash;
use midfold_core::narrate::FailureClass;

use crate::config::{Attempts, Config};

/// How often a call with this failure is tried in all.
pub(crate) fn tries(attempts: &Attempts, class: FailureClass) -> u32 {
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
pub(crate) fn pause(
    config: &Config,
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
pub(crate) fn retry_after(value: &str) -> Option<Duration> {
    let seconds: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn config() -> Config {
        let counter = midfold_tokens::Chars::new("3").unwrap();
        Config::new("http://localhost", "m", Arc::new(counter))
    }

    #[test]
    fn pauses_grow_with_jitter_and_end() {
        let (config, id) = (config(), Hash([255; 32]));
        let pause = |class, tried, asked| pause(&config, id, class, tried, asked);
        assert_eq!(pause(FailureClass::Auth, 1, None), None);
        assert_eq!(pause(FailureClass::Overflow, 1, None), None);
        let first = pause(FailureClass::Server, 1, None).unwrap();
        let second = pause(FailureClass::Server, 2, None).unwrap();
        assert!(first > config.backoff && first < config.backoff * 3 / 2);
        assert!(second > config.backoff * 2 && second < config.backoff * 3);
        assert_eq!(pause(FailureClass::Server, 3, None), None);
        let asked = Some(Duration::from_secs(7));
        assert_eq!(pause(FailureClass::RateLimited, 1, asked), asked);
        assert_eq!(pause(FailureClass::RateLimited, 1, Some(Duration::from_secs(3_600))), None);
    }

    #[test]
    fn retry_after_is_seconds() {
        assert_eq!(retry_after("2"), Some(Duration::from_secs(2)));
        assert_eq!(retry_after("0.5"), Some(Duration::from_millis(500)));
        for bad in ["-1", "Wed, 21 Oct 2015 07:28:00 GMT", "inf", ""] {
            assert_eq!(retry_after(bad), None, "{bad}");
        }
    }
}
