//! A small random generator with a seed. It gives the same numbers on every machine.

/// `splitmix64`. It is good enough to vary test data, and ten lines long.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with a seed. The same seed always gives the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator for a name, so that a file's text depends only on its path.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let mix = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`. 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        // The small numbers come up a little more often, which does not matter for test data.
        usize::try_from(self.bits() % end.max(1)).unwrap_or_default()
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of 100 cases, on average.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    ///
    /// # Panics
    ///
    /// When `choices` is empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// `digits` lower-case hex digits.
    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.below(16)])).collect()
    }

    /// A number from 2^`low` up to, and without, 2^`high`. Each power of two is equally likely.
    ///
    /// # Panics
    ///
    /// When `high` is not above `low`.
    pub fn log_uniform(&mut self, low: u32, high: u32) -> usize {
        assert!(low < high, "no power of two from 2^{low} to 2^{high}");
        let power = self.between(low as usize, high as usize - 1);
        (1 << power) + self.below(1 << power)
    }
}
