//! The layout of the tables. `build.rs` writes them and this crate reads them, and both use this file.

/// The entry for a token that does not exist.
pub(crate) const ABSENT: u32 = u32::MAX;
/// Bits of a slot for a token's rank. The other bits hold a part of the token's hash, by which most other tokens are
/// skipped without reading them.
pub(crate) const RANK_BITS: u32 = 18;
/// All ranks are below this.
pub(crate) const MOST: u32 = (1 << RANK_BITS) - 1;
/// Consecutive characters whose classes are stored as one block.
pub(crate) const BLOCK: usize = 128;

/// A line end: `\r` or `\n`. This and the constants below are the classes of characters that the expressions of the
/// vocabularies distinguish. Each character has one class.
pub(crate) const LINE_END: u8 = 0;
/// Other white space.
pub(crate) const SPACE: u8 = 1;
/// Letters in upper and title case.
pub(crate) const UPPER: u8 = 2;
/// Letters in lower case.
pub(crate) const LOWER: u8 = 3;
/// Letters of scripts without case, and modifier letters.
pub(crate) const UNCASED: u8 = 4;
/// Marks that combine with another character.
pub(crate) const COMBINING: u8 = 5;
/// Digits, and other numbers.
pub(crate) const NUMBER: u8 = 6;
/// Everything else: punctuation, symbols, control characters, unassigned characters.
pub(crate) const OTHER: u8 = 7;

/// The hash of a token of three bytes or more.
#[inline]
pub(crate) fn hash(token: &[u8]) -> u64 {
    let length = token.len();
    let mut state = (length as u64).wrapping_mul(0xA24B_AED4_963E_E407);
    // The last read may overlap the one before. Reading the rest byte by byte would be slower.
    match token {
        [a, b, c] => state = mix(state, u64::from(u32::from_le_bytes([*a, *b, *c, 0]))),
        _ if length < 8 => {
            let (first, last) = (word::<4>(token, 0), word::<4>(token, length.saturating_sub(4)));
            let first = u64::from(u32::from_le_bytes(first));
            state = mix(state, first | u64::from(u32::from_le_bytes(last)) << 32);
        }
        _ => {
            for chunk in token.as_chunks::<8>().0 {
                state = mix(state, u64::from_le_bytes(*chunk));
            }
            state = mix(state, u64::from_le_bytes(word(token, length - 8)));
        }
    }
    state ^ state >> 32
}

/// Adds a word to the state of a hash.
#[inline]
fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// The bytes from `at` on; zeros where there are too few, which does not occur.
#[inline]
fn word<const SIZE: usize>(bytes: &[u8], at: usize) -> [u8; SIZE] {
    bytes[at..].first_chunk().copied().unwrap_or([0; SIZE])
}

/// The part of a hash that a slot holds in the bits above the rank.
#[inline]
pub(crate) fn tag(hash: u64) -> u32 {
    (hash >> 40) as u32 & (u32::MAX >> RANK_BITS)
}
