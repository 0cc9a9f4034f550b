//! Histograms of numbers, in bounded memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Each number below this has a bucket of its own. Above, each octave has [`STEPS`] buckets.
const EXACT: u64 = 64;
/// Buckets for each octave, so that a quantile is at most 1/32 below the true one.
const STEPS: u64 = 32;

/// A histogram with logarithmic buckets. The order in which numbers are added or histograms are merged does not
/// matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHistogram {
    count: u64,
    max: u64,
    /// How many numbers each bucket holds.
    buckets: BTreeMap<u64, u64>,
}

impl LogHistogram {
    /// Adds a number.
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.max = self.max.max(value);
        *self.buckets.entry(bucket(value)).or_default() += 1;
    }

    /// Adds all numbers of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.max = self.max.max(other.max);
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }

    /// How many numbers were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest number, exactly; 0 where there are none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The number that at least `percent` of all numbers do not exceed, up to about 3 % too low. 0 where there are no
    /// numbers.
    ///
    /// ```
    /// let mut spread = midfold_core::trajectory::LogHistogram::default();
    /// (1..=1_000).for_each(|n| spread.add(n));
    /// assert!((485..=500).contains(&spread.quantile(50)));
    /// assert_eq!(spread.quantile(100), 1_000);
    /// ```
    #[must_use]
    pub fn quantile(&self, percent: u64) -> u64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        // The largest number is known exactly; its bucket would give a smaller one.
        if rank >= self.count {
            return self.max;
        }
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += count;
            if seen >= rank {
                return least(*bucket).min(self.max);
            }
        }
        self.max
    }
}

/// The number of the bucket for a value.
fn bucket(value: u64) -> u64 {
    if value < EXACT {
        return value;
    }
    let octave = u64::from(value.ilog2());
    // The five bits below the highest one.
    let step = (value >> (octave - 5)) & (STEPS - 1);
    EXACT + (octave - 6) * STEPS + step
}

/// The smallest number of a bucket.
fn least(bucket: u64) -> u64 {
    if bucket < EXACT {
        return bucket;
    }
    let (octave, step) = ((bucket - EXACT) / STEPS + 6, (bucket - EXACT) % STEPS);
    (STEPS + step) << (octave - 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_starts_at_most_three_per_cent_below_its_numbers() {
        for value in (0..5_000).chain([1 << 20, (1 << 33) + 12_345, u64::MAX]) {
            let low = least(bucket(value));
            assert!(low <= value && value - low <= value / 32, "{value}: {low}");
        }
    }

    #[test]
    fn parts_in_any_order_give_the_same() {
        let mut whole = LogHistogram::default();
        let mut parts = [LogHistogram::default(), LogHistogram::default()];
        for n in 0..999u64 {
            whole.add(n * n);
            parts[(n % 2) as usize].add(n * n);
        }
        let [mut a, b] = parts;
        a.merge(&b);
        assert_eq!(a, whole);
        assert_eq!(whole.max(), 998 * 998);
    }
}
