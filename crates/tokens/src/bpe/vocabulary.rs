//! Tokens and their ranks, in tables that are part of the program.

use super::layout::{ABSENT, MOST, RANK_BITS, hash, tag};

/// A number in a table, which has no alignment.
type TableWord = [u8; 4];

/// A vocabulary, read in place.
pub(crate) struct BpeVocabulary {
    /// No other one in this program has it.
    number: u8,
    /// The tokens, one behind the other, by rank.
    bytes: &'static [u8],
    /// Where each token ends.
    ends: &'static [TableWord],
    /// Ranks of the tokens of two bytes, by both.
    pairs: &'static [TableWord],
    /// Ranks of the longer ones, by their hash; a search goes on until a slot is free.
    slots: &'static [TableWord],
}

/// The tables that `build.rs` wrote under this name.
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

    /// The rank of a token of two bytes; [`ABSENT`] where these are none.
    #[inline]
    pub fn pair(&self, first: u8, second: u8) -> u32 {
        word(self.pairs, usize::from(first) << 8 | usize::from(second))
    }

    /// The rank of a token of two bytes or more; [`ABSENT`] where these are none.
    #[inline]
    pub fn rank(&self, token: &[u8]) -> u32 {
        if let [first, second] = token {
            return self.pair(*first, *second);
        }
        self.find(token, hash(token))
    }

    /// The rank of a token of three bytes or more with this hash; [`ABSENT`] where these are none.
    #[inline]
    pub fn find(&self, token: &[u8], hash: u64) -> u32 {
        let (tag, last) = (tag(hash), self.slots.len() - 1);
        let mut at = hash as usize & last;
        loop {
            let slot = word(self.slots, at);
            if slot == ABSENT {
                return ABSENT;
            }
            // The tag tells nearly all others apart unread.
            if slot >> RANK_BITS == tag && self.token(slot & MOST) == token {
                return slot & MOST;
            }
            at = (at + 1) & last;
        }
    }

    /// The token of a rank; nothing for a rank that there is not.
    pub fn token(&self, rank: u32) -> &'static [u8] {
        let rank = rank as usize;
        let start = if rank == 0 { 0 } else { word(self.ends, rank - 1) as usize };
        match self.ends.get(rank) {
            Some(&end) => &self.bytes[start..u32::from_le_bytes(end) as usize],
            None => &[],
        }
    }

    /// How many tokens there are.
    pub fn size(&self) -> usize {
        self.ends.len()
    }
}

#[inline]
fn word(table: &[TableWord], at: usize) -> u32 {
    u32::from_le_bytes(table[at])
}
