//! Limits the rate of requests with a token bucket: it fills with time, and each request takes one out.

/// The level that one request takes. In a millisecond the bucket gains `per_minute`, so 60,000 is one request.
const ONE: u64 = 60_000;

/// A bucket of requests. It holds one minute's requests, which may come at once.
#[derive(Debug)]
pub struct Bucket {
    per_minute: Option<u64>,
    level: u64,
    /// The time of the last request, in milliseconds since 1970.
    seen: u64,
}

impl Bucket {
    /// Makes a full bucket. With `None`, there is no limit.
    pub fn full(per_minute: Option<u32>) -> Self {
        let per_minute = per_minute.map(u64::from);
        // The first request sees a long pause since 0, which adds nothing to a full bucket.
        Self { per_minute, level: per_minute.unwrap_or(0) * ONE, seen: 0 }
    }

    /// Takes one request out. The error is the number of seconds until there is one.
    pub fn take(&mut self, now: u64) -> Result<(), u64> {
        let Some(rate) = self.per_minute else { return Ok(()) };
        // If the clock was set back, nothing is gained.
        let gained = now.saturating_sub(self.seen).saturating_mul(rate);
        self.level = self.level.saturating_add(gained).min(rate * ONE);
        self.seen = now;
        match self.level.checked_sub(ONE) {
            Some(rest) => {
                self.level = rest;
                Ok(())
            }
            // In a second the bucket gains `rate * 1_000`.
            None => Err((ONE - self.level).div_ceil(rate * 1_000)),
        }
    }
}
