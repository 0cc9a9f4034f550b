//! How the tables are laid out: what writes them (`build.rs`) and what reads them agree here.

/// No token.
pub(crate) const ABSENT: u32 = u32::MAX;
/// Bits of a slot that hold a rank; the others hold a part of the hash, so that most tokens that are not the one
/// asked for are passed over unread.
pub(crate) const RANK_BITS: u32 = 18;
/// Ranks are below this.
pub(crate) const MOST: u32 = (1 << RANK_BITS) - 1;
/// Characters whose classes are one block.
pub(crate) const BLOCK: usize = 128;

/// Classes of characters, as the expressions of the vocabularies ask for them. Each character has one.
/// `\r` and `\n`.
pub(crate) const LINE_END: u8 = 0;
/// Other white space.
pub(crate) const SPACE: u8 = 1;
/// Letters in upper and title case.
pub(crate) const UPPER: u8 = 2;
/// Letters in lower case.
pub(crate) const LOWER: u8 = 3;
/// Letters of scripts without case, and modifiers.
pub(crate) const UNCASED: u8 = 4;
/// Marks that are written onto another character.
pub(crate) const COMBINING: u8 = 5;
/// Digits, and other numbers.
pub(crate) const NUMBER: u8 = 6;
/// Everything else: punctuation, symbols, control characters, what is not assigned.
pub(crate) const OTHER: u8 = 7;

/// The hash of a token of three bytes or more.
#[inline]
pub(crate) fn hash(token: &[u8]) -> u64 {
    let length = token.len();
    let mut state = (length as u64).wrapping_mul(0xA24B_AED4_963E_E407);
    // Reads overlap rather than being of a length of their own, which is slower.
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

#[inline]
fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// The bytes from `at`; zeros where there are none, which no caller asks for.
#[inline]
fn word<const SIZE: usize>(bytes: &[u8], at: usize) -> [u8; SIZE] {
    bytes[at..].first_chunk().copied().unwrap_or([0; SIZE])
}

/// The part of a hash that a slot holds above the rank.
#[inline]
pub(crate) fn tag(hash: u64) -> u32 {
    (hash >> 40) as u32 & (u32::MAX >> RANK_BITS)
}
