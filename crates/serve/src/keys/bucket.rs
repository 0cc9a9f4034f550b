//! How often somebody may ask: a bucket that fills with time, and that each request takes one from.

/// What one request takes: the bucket gains `per_minute` of it a millisecond.
const ONE: u64 = 60_000;

/// A bucket of requests. A minute's worth may be asked at once.
#[derive(Debug)]
pub(super) struct Bucket {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minutes_worth_at_once_then_as_time_goes() {
        let mut bucket = Bucket::full(Some(3));
        let start = 1_700_000_000_000;
        for _ in 0..3 {
            assert_eq!(bucket.take(start), Ok(()));
        }
        assert_eq!(bucket.take(start), Err(20));
        assert_eq!(bucket.take(start + 19_001), Err(1));
        assert_eq!(bucket.take(start + 20_000), Ok(()));
        assert_eq!(bucket.take(start), Err(20), "the clock was set back");
        for _ in 0..3 {
            assert_eq!(bucket.take(start + 3_600_000), Ok(()), "never more than a minute's worth");
        }
        assert!(bucket.take(start + 3_600_000).is_err());
        let mut free = Bucket::full(None);
        assert!((0..1_000).all(|_| free.take(0).is_ok()));
    }
}
