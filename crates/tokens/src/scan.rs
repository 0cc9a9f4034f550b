//! Counts the features of a text that its number of tokens depends on, in one pass. Nothing here knows a model.
//!
//! Every count is a sum of comparisons between a byte and the byte before it. Sums are kept in `u8`s over blocks of
//! less than 256 bytes, because compilers turn such loops into vector code.

/// The features of a text. ASCII is counted in bytes, everything else in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextShape {
    /// ASCII letters.
    pub letters: u64,
    /// Letters without a letter before them, which start words.
    pub words: u64,
    /// Upper-case letters after a lower-case one, as in `parseJson`. In base64, that is about half of the letters.
    pub humps: u64,
    /// Upper-case letters.
    pub upper: u64,
    /// Letters above the usual number in words: blobs, `aaaa…`, minified names. Judged for each block.
    pub excess: u64,
    /// ASCII digits.
    pub digits: u64,
    /// Starts of runs of digits.
    pub numbers: u64,
    /// Other visible ASCII, and control characters.
    pub marks: u64,
    /// Starts of runs of marks.
    pub mark_runs: u64,
    /// Spaces and tabs.
    pub spaces: u64,
    /// Runs of two or more spaces.
    pub indents: u64,
    /// Starts of runs of line breaks.
    pub breaks: u64,
    /// Two-byte characters: accents, Cyrillic, Greek, Arabic.
    pub two: u64,
    /// Three-byte characters: CJK, Indic, box drawing, most symbols.
    pub three: u64,
    /// Four-byte characters: emoji, rare CJK.
    pub four: u64,
    /// Letters, and marks of which rulers are made, in long runs of the same one. They count nowhere else.
    pub rulers: u64,
    /// Spaces and tabs in long runs of the same one. They count nowhere else.
    pub blanks: u64,
    /// Characters of boxes and blocks (U+2500 to U+259F) in long runs of the same one. They count nowhere else.
    pub boxes: u64,
}

/// Bytes of a block. It has to be below 256, because the counters are `u8`s.
const BLOCK: usize = 192;

/// Letters for each word above which the rest of a block's letters count as [`TextShape::excess`].
const LONG_WORD: u64 = 12;

/// The least characters of a long run. Vocabularies hold the shorter ones of code as one token, too, but among other
/// tokens that the weights were fitted to.
const RUN: usize = 16;

/// The marks whose long runs the public vocabularies hold as one token.
const RULERS: &[u8] = b"-=#*_~.";

impl TextShape {
    /// Counts the features of a text.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut shape = Self::default();
        let Some(&first) = bytes.first() else { return shape };
        // The first byte is compared with a byte of no kind.
        shape.add(&[0x80], &[first]);
        for (now, before) in bytes[1..].chunks(BLOCK).zip(bytes.chunks(BLOCK)) {
            shape.add(&before[..now.len()], now);
        }
        shape
    }

    /// Adds the features of a block. `before` holds the byte before each byte of `now`.
    #[inline]
    fn add(&mut self, before: &[u8], now: &[u8]) {
        let mut n = [0u8; 15];
        for (&p, &b) in before.iter().zip(now) {
            let (letter, was_letter) = (is_letter(b), is_letter(p));
            let (upper, digit, was_digit) = (is_upper(b), is_digit(b), is_digit(p));
            let (mark, was_mark) = (is_mark(b), is_mark(p));
            let (space, was_space) = (is_space(b), is_space(p));
            let (newline, was_newline) = (b == b'\n', p == b'\n');
            n[0] += u8::from(letter);
            n[1] += u8::from(letter & !was_letter);
            n[2] += u8::from(upper & was_letter & !is_upper(p));
            n[3] += u8::from(upper);
            n[4] += u8::from(digit);
            n[5] += u8::from(digit & !was_digit);
            n[6] += u8::from(mark);
            n[7] += u8::from(mark & !was_mark);
            n[8] += u8::from(space);
            n[9] += u8::from(space & !was_space);
            n[10] += u8::from(space & was_space);
            n[11] += u8::from(newline & !was_newline);
            n[12] += u8::from(b & 0xE0 == 0xC0);
            n[13] += u8::from(b >= 0xE0);
            n[14] += u8::from(b == p);
        }
        let four: u8 = if n[13] == 0 { 0 } else { count(now, |b| b >= 0xF0) };
        let mut n = n.map(u64::from);
        if n[14] as usize + 1 >= RUN || n[13] as usize >= RUN {
            self.take_runs(now, &mut n);
        }
        self.letters += n[0];
        self.words += n[1];
        self.humps += n[2];
        self.upper += n[3];
        self.excess += n[0].saturating_sub(LONG_WORD * (n[1] + n[2] + 1));
        self.digits += n[4];
        self.numbers += n[5];
        self.marks += n[6];
        self.mark_runs += n[7];
        self.spaces += n[8];
        // A run of k spaces has k - 1 pairs, but each run of two or more should count once. In real text these are
        // indents, and each block holds few of them.
        self.indents += n[10].min(n[9]);
        self.breaks += n[11];
        self.two += n[12];
        self.three += n[13] - u64::from(four);
        self.four += u64::from(four);
    }

    /// Takes the long runs of a block out of its counts `n`.
    fn take_runs(&mut self, now: &[u8], n: &mut [u64; 15]) {
        for run in now.chunk_by(|a, b| a == b).filter(|run| run.len() >= RUN) {
            let (b, len) = (run[0], run.len() as u64);
            if is_space(b) {
                n[8] -= len;
                self.blanks += len;
            } else if is_letter(b) {
                n[0] -= len;
                n[3] -= if is_upper(b) { len } else { 0 };
                self.rulers += len;
            } else if RULERS.contains(&b) {
                n[6] -= len;
                self.rulers += len;
            }
        }
        let mut rest = now;
        while let Some(at) = rest.windows(3).position(is_box) {
            let same =
                rest[at..].chunks_exact(3).take_while(|chunk| *chunk == &rest[at..at + 3]).count();
            if same >= RUN {
                n[13] -= same as u64;
                self.boxes += same as u64;
            }
            rest = &rest[at + 3 * same..];
        }
    }
}

/// Whether these three bytes are a character of boxes or blocks.
fn is_box(bytes: &[u8]) -> bool {
    matches!(bytes, [0xE2, 0x94..=0x96, _])
}

/// How many of these bytes are wanted. The callers pass fewer than 256.
fn count(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> u8 {
    bytes.iter().map(|&b| u8::from(wanted(b))).sum()
}

#[inline]
fn is_letter(b: u8) -> bool {
    (b | 0x20).wrapping_sub(b'a') < 26
}

#[inline]
fn is_upper(b: u8) -> bool {
    b.wrapping_sub(b'A') < 26
}

#[inline]
fn is_digit(b: u8) -> bool {
    b.wrapping_sub(b'0') < 10
}

#[inline]
fn is_space(b: u8) -> bool {
    (b == b' ') | (b == b'\t')
}

#[inline]
fn is_mark(b: u8) -> bool {
    (b < 0x80) & !is_letter(b) & !is_digit(b) & !is_space(b) & (b != b'\n')
}
