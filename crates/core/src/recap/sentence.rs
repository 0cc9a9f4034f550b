//! Finds the ends of sentences, in any script.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::recap::deed::PART_CHARS;

/// Splits a sentence into pieces that fit into a part, at marks that separate clauses, or else between words.
pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let mut rest = sentence;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let limit = rest.char_indices().nth(PART_CHARS - 1).map(|(at, _)| at);
        let cut = limit.and_then(|limit| {
            let marks = ["; ", " – ", " — ", "，", "、", ", ", " "];
            let ends =
                marks.iter().filter_map(|mark| Some(rest[..limit].rfind(mark)? + mark.len()));
            ends.clone().find(|end| *end > limit / 2).or_else(|| ends.max()).or(Some(limit))
        });
        let (clause, tail) = rest.split_at(cut.unwrap_or(rest.len()));
        rest = tail.trim_start();
        Some(clause.trim_end())
    })
}

/// The sentences of a line in any script: by Unicode's rules (UAX 29), and also after a `:` that follows more than one
/// word. The number of a list item belongs to the sentence behind it.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut pieces = line.split_sentence_bound_indices();
    let mut rest: &str = "";
    std::iter::from_fn(move || {
        while rest.is_empty() {
            let (start, piece) = pieces.next()?;
            let mut end = start + piece.len();
            while !is_sentence(&line[start..end])
                && let Some((at, more)) = pieces.next()
            {
                end = at + more.len();
            }
            rest = line[start..end].trim();
        }
        let (sentence, tail) = rest.split_at(end_of_lead(rest));
        rest = tail.trim_start();
        Some(sentence.trim_end())
    })
}

/// Whether a piece that Unicode's rules give is a whole sentence. A number alone (`1.`) is the mark of a list item.
/// Where no white space follows, the end mark is inside a name or code (`!=`), except in scripts without spaces.
fn is_sentence(piece: &str) -> bool {
    let ends =
        piece.ends_with(|c: char| c.is_whitespace() || matches!(c, '。' | '！' | '？' | '｡'));
    ends && piece.chars().any(char::is_alphabetic) && !ends_in_mark(piece)
}

/// Whether a piece ends in the number of a list item (`Three of them: 1.`), so that the item itself follows.
fn ends_in_mark(piece: &str) -> bool {
    let mut words = piece.split_whitespace().rev();
    words.next().is_some_and(is_mark)
        && words.next().is_some_and(|word| word.ends_with([':', ';', '.', ',']))
}

/// Byte offset behind the first `:` that is followed by white space and preceded by more than one word; the end of the
/// sentence where there is none. Such a `:` announces what follows.
fn end_of_lead(sentence: &str) -> usize {
    let ends = |(at, _): &(usize, &str)| {
        sentence[at + 1..].starts_with(char::is_whitespace)
            && sentence[..*at].split_whitespace().nth(1).is_some()
    };
    sentence.match_indices(':').find(ends).map_or(sentence.len(), |(at, _)| at + 1)
}

/// Whether a word is the number or letter of a list item: `2.`, `(2)`, `B)`.
pub(super) fn is_mark(word: &str) -> bool {
    let inner = word.strip_suffix(')').map(|word| word.trim_start_matches('('));
    let number = inner.or_else(|| word.strip_suffix('.')).unwrap_or_default();
    let is_letter =
        inner.is_some() && number.len() == 1 && number.bytes().all(|b| b.is_ascii_alphabetic());
    is_letter || (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit())
}
