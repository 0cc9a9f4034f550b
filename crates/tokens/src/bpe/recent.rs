//! Counts of short pieces that came lately. Texts say the same words again and again: one look here is one place
//! in memory, where the tables are three that lie far apart.

use std::cell::RefCell;

/// Longer pieces are rare, and counted afresh.
pub(super) const LONGEST: usize = 21;
/// Pieces that are remembered, for each thread: 96 KB, which is within reach of a core.
const PIECES: usize = 4_096;

/// Bytes of what tells a piece: itself, then its length and its vocabulary. The last byte is how many tokens it has.
const NAME: usize = LONGEST + 2;
type PieceCount = [u8; NAME + 1];

thread_local! {
    static RECENT: RefCell<Vec<PieceCount>> = const { RefCell::new(Vec::new()) };
}

/// The tokens of a piece of 1 to [`LONGEST`] bytes with this hash. It is counted where it did not come lately.
#[inline]
pub(super) fn count_once(
    vocabulary: u8,
    piece: &[u8],
    hash: u64,
    count: impl FnOnce() -> u64,
) -> u64 {
    RECENT.with_borrow_mut(|recent| {
        if recent.is_empty() {
            recent.resize(PIECES, [0; NAME + 1]);
        }
        let place = (hash as usize ^ usize::from(vocabulary)) % PIECES;
        let mut this = [0; NAME + 1];
        this[..piece.len()].copy_from_slice(piece);
        (this[LONGEST], this[LONGEST + 1]) = (piece.len() as u8, vocabulary);
        if recent[place][..NAME] == this[..NAME] {
            return u64::from(recent[place][NAME]);
        }
        let tokens = count();
        // Never more than the piece has bytes.
        this[NAME] = tokens as u8;
        recent[place] = this;
        tokens
    })
}
