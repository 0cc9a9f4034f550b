//! Ranges of bytes in an event.

/// A half-open range of bytes in an event (an event is smaller than 4 GiB).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl ByteRange {
    /// The range `start..end`. Larger positions become 4 GiB; readers refuse events of that size before.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end) }
    }

    /// The range as `usize`s, to index with.
    #[must_use]
    pub fn to_usize(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes of `source` in this range; empty when the range is not inside `source`.
    #[must_use]
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.to_usize()).unwrap_or_default()
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.to_usize().len()
    }

    /// Whether the range is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}
