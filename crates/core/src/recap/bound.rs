//! A bound of the worth of a deed, as data: it is made once, when a deed enters.

/// The most that a title or any part of a deed can be worth for each of its tokens. How new the deed is and what the
/// reader asks for is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeedBound {
    /// The most with the rarity that its words had when it was made. A word gets only more common …
    pub base: u64,
    /// … but for the number of deeds, whose logarithm was this.
    pub deeds: u64,
    /// What each step of that logarithm adds at most.
    pub slope: u64,
    /// What the title adds.
    pub title: u64,
    pub title_slope: u64,
    /// Marks for its words.
    pub marks: WordMarks,
    /// Bytes of its title and of its shortest part, or fewer. Longer ones take more tokens.
    pub least: [usize; 2],
}

/// Marks of words, of which two words may share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordMarks(pub [u64; 16]);

impl WordMarks {
    pub fn add(&mut self, word: u32) {
        // The upper bits are mixed best.
        if let Some(marks) = self.0.get_mut((word >> 28) as usize) {
            *marks |= 1 << (word >> 22 & 63);
        }
    }

    /// How many marks both have.
    pub fn shared(&self, other: &Self) -> u64 {
        let both = self.0.iter().zip(&other.0).map(|(one, other)| (one & other).count_ones());
        u64::from(both.sum::<u32>())
    }
}
