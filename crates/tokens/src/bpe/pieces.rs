//! Splits a text into pieces, by a vocabulary's expression, before tokens are merged. No token spans two pieces.
//!
//! The expressions, as OpenAI prints them (`tiktoken_ext/openai_public.py`):
//!
//! ```text
//! cl100k   (?i:'s|'t|'re|'ve|'m|'ll|'d)
//!          |[^\r\n\p{L}\p{N}]?\p{L}+
//!          |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! o200k    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//!          |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//!          |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! A regex engine takes milliseconds to compile these expressions. This code needs no preparation, and tests compare
//! it with such an engine.

use super::layout::{BLOCK, COMBINING, LINE_END, LOWER, NUMBER, OTHER, SPACE, UNCASED, UPPER};

mod classes {
    include!(concat!(env!("OUT_DIR"), "/classes.rs"));
}

/// Numbers are split into groups of this many digits.
const DIGITS: usize = 3;

/// The expression that splits a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitExpression {
    /// Words are split where lower case changes to upper case. An ending such as `'s` belongs to its word.
    O200k,
    /// Words are runs of letters. An ending such as `'s` is a piece of its own.
    Cl100k,
}

/// The pieces of a text, one after the other.
pub(super) struct TextPieces<'a> {
    bytes: &'a [u8],
    at: usize,
    expression: SplitExpression,
}

impl<'a> TextPieces<'a> {
    pub fn of(text: &'a str, expression: SplitExpression) -> Self {
        Self { bytes: text.as_bytes(), at: 0, expression }
    }
}

impl<'a> Iterator for TextPieces<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let (class, behind) = class(self.bytes, start)?;
        self.at = match self.expression {
            SplitExpression::O200k => o200k(self.bytes, start, class, behind),
            SplitExpression::Cl100k => cl100k(self.bytes, start, class, behind),
        };
        self.bytes.get(start..self.at)
    }
}

/// The class of the character at byte `at`, and the byte offset of its end; `None` at the end of the text.
#[inline]
fn class(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((classes::BLOCKS[0][usize::from(first)], at + 1));
    }
    let (character, behind) = decoded(bytes, at, first);
    let block = classes::PLACES.get(character / BLOCK).copied().unwrap_or_default();
    Some((classes::BLOCKS[usize::from(block)][character % BLOCK], behind))
}

/// The multi-byte character at byte `at`, and the byte offset of its end. The bytes have to be valid UTF-8.
fn decoded(bytes: &[u8], at: usize, first: u8) -> (usize, usize) {
    let (length, lead) = match first {
        0xF0.. => (4, 0x07),
        0xE0.. => (3, 0x0F),
        _ => (2, 0x1F),
    };
    let behind = (at + length).min(bytes.len());
    let rest = bytes[at + 1..behind].iter();
    let character =
        rest.fold(usize::from(first & lead), |so_far, byte| so_far << 6 | usize::from(byte & 0x3F));
    (character, behind)
}

/// Byte offset of the end of the run of characters that starts at `at` and has only these classes.
#[inline]
fn run(bytes: &[u8], mut at: usize, is_in: impl Fn(u8) -> bool) -> usize {
    while let Some((class, behind)) = class(bytes, at)
        && is_in(class)
    {
        at = behind;
    }
    at
}

fn is_letter(class: u8) -> bool {
    matches!(class, UPPER | LOWER | UNCASED)
}

/// The end of the piece that starts at `start`, by the expression of `o200k`. The first character has this class,
/// and ends at `behind`.
#[inline]
fn o200k(bytes: &[u8], start: usize, class: u8, behind: usize) -> usize {
    let word = match class {
        // An engine tries the word with a character before it first, and then the word alone. A combining mark may be
        // either.
        UPPER | LOWER | UNCASED => cased(bytes, start).or_else(|| upper(bytes, start)),
        SPACE | OTHER => cased(bytes, behind).or_else(|| upper(bytes, behind)),
        COMBINING => cased(bytes, behind).or_else(|| cased(bytes, start)),
        _ => None,
    };
    match word {
        Some(end) => ending(bytes, end).unwrap_or(end),
        None => other(bytes, start, class, behind, |byte| matches!(byte, b'\r' | b'\n' | b'/')),
    }
}

/// Matches `[Lu Lt Lm Lo M]*[Ll Lm Lo M]+`, and returns the end. The first part takes as much as it can. Where nothing
/// is left for the second part, it gives back everything behind the last character that may be in both. `None` where
/// there is no match.
#[inline]
fn cased(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut last_of_both) = (start, None);
    while let Some((class, behind)) = class(bytes, at) {
        match class {
            UPPER => at = behind,
            UNCASED | COMBINING => {
                at = behind;
                last_of_both = Some(at);
            }
            LOWER => {
                return Some(run(bytes, behind, |class| {
                    matches!(class, LOWER | UNCASED | COMBINING)
                }));
            }
            _ => break,
        }
    }
    last_of_both
}

/// Matches `[Lu Lt Lm Lo M]+[Ll Lm Lo M]*` where [`cased`] found nothing, so that only upper case is left.
#[inline]
fn upper(bytes: &[u8], start: usize) -> Option<usize> {
    let end = run(bytes, start, |class| class == UPPER);
    (end > start).then_some(end)
}

/// The end of the piece that starts at `start`, by the expression of `cl100k`: see [`o200k`].
#[inline]
fn cl100k(bytes: &[u8], start: usize, class: u8, behind: usize) -> usize {
    if let Some(end) = ending(bytes, start) {
        return end;
    }
    if is_letter(class) {
        return run(bytes, behind, is_letter);
    }
    if matches!(class, SPACE | OTHER | COMBINING) {
        let end = run(bytes, behind, is_letter);
        if end > behind {
            return end;
        }
    }
    other(bytes, start, class, behind, |byte| matches!(byte, b'\r' | b'\n'))
}

/// The end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` at `at`, in any case. `None` where there is no such ending.
#[inline]
fn ending(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'\'') {
        return None;
    }
    let letter = |place: usize| bytes.get(at + place).map(u8::to_ascii_lowercase);
    match (letter(1)?, letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
        (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(at + 3),
        // `ſ`, which is also a form of `s`.
        (0xC5, Some(0xBF)) => Some(at + 3),
        _ => None,
    }
}

/// The end of a number, a run of marks or white space. Both expressions split these alike, except for the characters
/// that `may_follow` marks.
#[inline]
fn other(
    bytes: &[u8],
    start: usize,
    class: u8,
    behind: usize,
    may_follow: impl Fn(u8) -> bool,
) -> usize {
    if class == NUMBER {
        let mut end = behind;
        for _ in 1..DIGITS {
            match self::class(bytes, end) {
                Some((NUMBER, behind)) => end = behind,
                _ => break,
            }
        }
        return end;
    }
    let is_mark = |class| matches!(class, OTHER | COMBINING);
    // Both expressions let a single space come before marks.
    let marks = if bytes[start] == b' ' { behind } else { start };
    let mut end = run(bytes, marks, is_mark);
    if end > marks {
        while bytes.get(end).is_some_and(|&byte| may_follow(byte)) {
            end += 1;
        }
        return end;
    }
    white(bytes, start)
}

/// The end of a run of white space, which is behind its last line end. Without a line end, the last character is left
/// to the next piece.
fn white(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut line_end, mut last) = (start, None, start);
    while let Some((class @ (LINE_END | SPACE), behind)) = class(bytes, at) {
        if class == LINE_END {
            line_end = Some(behind);
        }
        (last, at) = (at, behind);
    }
    match line_end {
        Some(end) => end,
        // At the end of the text, no piece follows that could take the last character.
        None if at == bytes.len() || last == start => at,
        None => last,
    }
}
