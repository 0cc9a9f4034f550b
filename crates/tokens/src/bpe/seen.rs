//! Counts of short pieces that were seen lately. Texts say the same words again and again: one look here is one place
//! in memory, where the tables are three that lie far apart.

use std::cell::RefCell;

/// Longer pieces are rare, and counted afresh.
pub(super) const LONGEST: usize = 21;
/// Pieces that are remembered, for each thread: 96 KB, which is within reach of a core.
const PIECES: usize = 4_096;

/// Bytes of what tells a piece: itself, then its length and its vocabulary. The last byte is how many tokens it has.
const NAME: usize = LONGEST + 2;
type Seen = [u8; NAME + 1];

thread_local! {
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

/// The tokens of a piece of 1 to [`LONGEST`] bytes with this hash, counted where it was not seen lately.
#[inline]
pub(super) fn tokens(vocabulary: u8, piece: &[u8], hash: u64, count: impl FnOnce() -> u64) -> u64 {
    SEEN.with_borrow_mut(|seen| {
        if seen.is_empty() {
            seen.resize(PIECES, [0; NAME + 1]);
        }
        let place = (hash as usize ^ usize::from(vocabulary)) % PIECES;
        let mut this = [0; NAME + 1];
        this[..piece.len()].copy_from_slice(piece);
        (this[LONGEST], this[LONGEST + 1]) = (piece.len() as u8, vocabulary);
        if seen[place][..NAME] == this[..NAME] {
            return u64::from(seen[place][NAME]);
        }
        let tokens = count();
        // Never more than the piece has bytes.
        this[NAME] = tokens as u8;
        seen[place] = this;
        tokens
    })
}
