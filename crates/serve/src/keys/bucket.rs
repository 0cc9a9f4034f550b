//! How often somebody may ask: a bucket that fills with time, and that each request takes one from.

/// What one request takes: the bucket gains `per_minute` of it a millisecond.
const ONE: u64 = 60_000;

/// A bucket of requests. A minute's worth may be asked at once.
#[derive(Debug)]
pub struct Bucket {
    per_minute: Option<u64>,
    level: u64,
    /// Milliseconds since 1970.
    seen: u64,
}

impl Bucket {
    /// A full one; without a number it never empties.
    pub fn full(per_minute: Option<u32>) -> Self {
        let per_minute = per_minute.map(u64::from);
        Self { per_minute, level: per_minute.unwrap_or(0) * ONE, seen: 0 }
    }

    /// Takes one, or says in how many seconds there is one.
    pub fn take(&mut self, now: u64) -> Result<(), u64> {
        let Some(rate) = self.per_minute else { return Ok(()) };
        // A clock that was set back gives nothing.
        let gained = now.saturating_sub(self.seen).saturating_mul(rate);
        self.level = self.level.saturating_add(gained).min(rate * ONE);
        self.seen = now;
        match self.level.checked_sub(ONE) {
            Some(left) => {
                self.level = left;
                Ok(())
            }
            None => Err((ONE - self.level).div_ceil(rate * 1_000)),
        }
    }
}
