//! The only place that reads a clock. The engine has none: it gets the time as an argument.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A clock that starts now, in nanoseconds.
pub fn nanos() -> impl Fn() -> u64 {
    let begun = Instant::now();
    move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
