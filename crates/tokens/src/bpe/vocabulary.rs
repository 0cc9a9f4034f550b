//! Tokens and their ranks, in tables that are compiled into the program.

use super::layout::{ABSENT, MOST, RANK_BITS, hash, tag};

/// A number in a table, as bytes, because tables are not aligned.
type TableWord = [u8; 4];

/// A vocabulary whose tables are read in place.
pub(crate) struct BpeVocabulary {
    /// Tells this vocabulary apart from the others in the program.
    number: u8,
    /// All tokens in the order of their ranks, without separators.
    bytes: &'static [u8],
    /// The byte offset of each token's end.
    ends: &'static [TableWord],
    /// The ranks of tokens of two bytes, indexed by both bytes.
    pairs: &'static [TableWord],
    /// The ranks of longer tokens, in a hash table with linear probing: a search ends at a free slot.
    slots: &'static [TableWord],
}

/// The tables that `build.rs` wrote for this vocabulary.
macro_rules! embedded {
    ($number:literal, $name:literal) => {
        $crate::bpe::vocabulary::BpeVocabulary::new(
            $number,
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, "/bytes")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, "/ends")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, "/pairs")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, "/slots")),
        )
    };
}
pub(super) use embedded;

impl BpeVocabulary {
    pub(super) const fn new(
        number: u8,
        bytes: &'static [u8],
        ends: &'static [u8],
        pairs: &'static [u8],
        slots: &'static [u8],
    ) -> Self {
        let (ends, pairs, slots) = (ends.as_chunks().0, pairs.as_chunks().0, slots.as_chunks().0);
        Self { number, bytes, ends, pairs, slots }
    }

    /// The number of this vocabulary.
    #[inline]
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The rank of a token of two bytes; [`ABSENT`] where the bytes are no token.
    #[inline]
    pub fn pair(&self, first: u8, second: u8) -> u32 {
        word(self.pairs, usize::from(first) << 8 | usize::from(second))
    }

    /// The rank of a token of two bytes or more; [`ABSENT`] where the bytes are no token.
    #[inline]
    pub fn rank(&self, token: &[u8]) -> u32 {
        if let [first, second] = token {
            return self.pair(*first, *second);
        }
        self.find(token, hash(token))
    }

    /// The rank of a token of three bytes or more with this hash; [`ABSENT`] where the bytes are no token.
    #[inline]
    pub fn find(&self, token: &[u8], hash: u64) -> u32 {
        // The number of slots is a power of two, so the lowest bits of the hash are a place.
        let (tag, last) = (tag(hash), self.slots.len() - 1);
        let mut at = hash as usize & last;
        loop {
            let slot = word(self.slots, at);
            if slot == ABSENT {
                return ABSENT;
            }
            // The tag excludes nearly all other tokens without reading them.
            if slot >> RANK_BITS == tag && self.token(slot & MOST) == token {
                return slot & MOST;
            }
            at = (at + 1) & last;
        }
    }

    /// The token with this rank; empty where there is none.
    pub fn token(&self, rank: u32) -> &'static [u8] {
        let rank = rank as usize;
        let start = if rank == 0 { 0 } else { word(self.ends, rank - 1) as usize };
        match self.ends.get(rank) {
            Some(&end) => &self.bytes[start..u32::from_le_bytes(end) as usize],
            None => &[],
        }
    }

    /// How many tokens the vocabulary has.
    pub fn size(&self) -> usize {
        self.ends.len()
    }
}

#[inline]
fn word(table: &[TableWord], at: usize) -> u32 {
    u32::from_le_bytes(table[at])
}
