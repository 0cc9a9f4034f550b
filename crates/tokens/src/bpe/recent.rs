//! Remembers the counts of recent short pieces, because texts repeat the same words. A look-up here reads one place in
//! memory, while the tables need three that are far apart.

use std::cell::RefCell;

/// Longer pieces, in bytes, are rare and are counted each time.
pub(super) const LONGEST: usize = 21;
/// How many pieces are remembered for each thread. That is 96 KB, which fits into a core's cache.
const PIECES: usize = 4_096;

/// Bytes that identify a piece: the piece itself, its length and its vocabulary. One more byte holds its number of
/// tokens.
const NAME: usize = LONGEST + 2;
/// A remembered piece: its text, padded with zeros, then length, vocabulary and count.
type PieceCount = [u8; NAME + 1];

thread_local! {
    static RECENT: RefCell<Vec<PieceCount>> = const { RefCell::new(Vec::new()) };
}

/// The tokens of a piece of 1 to [`LONGEST`] bytes with this hash. `count` is called only where the piece is not
/// remembered.
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
        // The number fits into a byte: a piece has no more tokens than bytes.
        this[NAME] = tokens as u8;
        recent[place] = this;
        tokens
    })
}
