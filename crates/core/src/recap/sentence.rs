//! Where a sentence ends, in any script.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::recap::statement::PART_CHARS;

/// A sentence in pieces that fit into a part: cut behind what separates clauses, or words.
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
        let (clause, left) = rest.split_at(cut.unwrap_or(rest.len()));
        rest = left.trim_start();
        Some(clause.trim_end())
    })
}

/// The sentences of a line, in any script: as Unicode ends them (UAX 29), and at a `:` behind more than a
/// word. The number of an item begins its sentence.
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
        let (sentence, left) = rest.split_at(end_of_lead(rest));
        rest = left.trim_start();
        Some(sentence.trim_end())
    })
}

/// Whether what Unicode takes for a sentence is one: a number alone (`1.`) is the mark of an item, and what
/// goes on without white space is a name or code (`!=`), but where a script has none.
fn is_sentence(piece: &str) -> bool {
    let ends =
        piece.ends_with(|c: char| c.is_whitespace() || matches!(c, '。' | '！' | '？' | '｡'));
    ends && piece.chars().any(char::is_alphabetic) && !ends_in_mark(piece)
}

/// Whether the number of an item is its last word (`Three of them: 1.`): the item is still to come.
fn ends_in_mark(piece: &str) -> bool {
    let mut words = piece.split_whitespace().rev();
    words.next().is_some_and(is_mark)
        && words.next().is_some_and(|word| word.ends_with([':', ';', '.', ',']))
}

/// Where a sentence announces what follows: behind its first `:` before white space, if that is behind more
/// than a word; else its end.
fn end_of_lead(sentence: &str) -> usize {
    let ends = |(at, _): &(usize, &str)| {
        sentence[at + 1..].starts_with(char::is_whitespace)
            && sentence[..*at].split_whitespace().nth(1).is_some()
    };
    sentence.match_indices(':').find(ends).map_or(sentence.len(), |(at, _)| at + 1)
}

/// Whether a word is the number or the letter of an item: `2.`, `(2)`, `B)`.
pub(super) fn is_mark(word: &str) -> bool {
    let inner = word.strip_suffix(')').map(|word| word.trim_start_matches('('));
    let number = inner.or_else(|| word.strip_suffix('.')).unwrap_or_default();
    let is_letter =
        inner.is_some() && number.len() == 1 && number.bytes().all(|b| b.is_ascii_alphabetic());
    is_letter || (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit())
}
