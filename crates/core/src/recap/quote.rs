//! Finds quotations in prose, and removes them from it.

use std::ops::Range;

/// Opening marks, each with its closing marks. Single quotes are not listed, because most of them are apostrophes.
const MARKS: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”', '"']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('»', &['«']),
    ('「', &['」']),
    ('『', &['』']),
];

/// Longest quotation, in bytes. Without a limit, a stray mark would quote a page.
const LONGEST: usize = 1_200;

/// The quotations of a text in order, with their marks. Each is within one line.
pub(crate) fn ranges(text: &str) -> Vec<Range<usize>> {
    find(text, |c| MARKS.iter().find(|(open, _)| *open == c).map(|(_, close)| *close))
}

/// The code spans of a text (between backticks).
pub(crate) fn code(text: &str) -> Vec<Range<usize>> {
    find(text, |c| (c == '`').then_some(&['`'][..]))
}

/// Quotations in single marks, with the marks. A quotation holds at least two words, its first mark is before a word
/// and its last mark behind one. An apostrophe is inside a word, so it is no mark.
pub(crate) fn single(text: &str) -> Vec<Range<usize>> {
    let is_mark = |c: char| matches!(c, '\'' | '‘' | '’' | '‚');
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut quoted, mut open) = (Vec::new(), None);
    for (at, c) in text.char_indices() {
        if c == '\n' || open.is_some_and(|start| at - start > LONGEST) {
            open = None;
        }
        if !is_mark(c) {
            continue;
        }
        let end = at + c.len_utf8();
        let before = text[..at].chars().next_back();
        let after = text[end..].chars().next();
        match open {
            Some(start) if !word(after) && !before.is_none_or(char::is_whitespace) => {
                open = None;
                // A single word in such marks is a name more often than somebody's words.
                if text[start..at].contains(' ') {
                    quoted.push(start..end);
                }
            }
            None if !word(before) && word(after) => open = Some(at),
            _ => {}
        }
    }
    quoted
}

/// Finds the ranges between marks. `closes` gives the closing marks of an opening one.
fn find(text: &str, closes: impl Fn(char) -> Option<&'static [char]>) -> Vec<Range<usize>> {
    let mut quoted = Vec::new();
    let mut from = 0;
    while let Some((at, c)) = text[from..].char_indices().find(|(_, c)| closes(*c).is_some()) {
        let start = from + at;
        let body = start + c.len_utf8();
        let longest = text.floor_char_boundary(body.saturating_add(LONGEST));
        let limit = text[body..longest].find('\n').map_or(longest, |at| body + at);
        from = body;
        // A mark that nothing closes is passed over alone: a quotation may begin right behind it.
        let Some(close) = closes(c) else { continue };
        if let Some(at) = text[body..limit].find(close) {
            let end = body + at;
            let width = text[end..].chars().next().map_or(0, char::len_utf8);
            quoted.push(start..end + width);
            from = end + width;
        }
    }
    quoted
}

/// Whether a place is in one of these ranges, which are in order and apart.
pub(crate) fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    ranges
        .get(ranges.partition_point(|range| range.end <= at))
        .is_some_and(|range| range.start <= at)
}

/// The words of a quotation, without its marks.
pub(crate) fn inner<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    let mut chars = text[range.clone()].chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// The text with a `…` in the place of each quotation.
pub(crate) fn without(text: &str) -> String {
    cut(text, &ranges(text))
}

/// The text with a `…` in the place of each code span.
pub(crate) fn without_code(text: &str) -> String {
    cut(text, &code(text))
}

/// The text with a `…` in the place of each of these ranges, which are in order.
pub(crate) fn cut(text: &str, ranges: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        out.push_str(&text[from..range.start]);
        out.push('…');
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// The form in which two quotations are compared: lower case, white space folded, and typographic apostrophes made
/// plain.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in word.chars() {
            match c {
                '’' | '‘' => out.push('\''),
                c => out.extend(c.to_lowercase()),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_quotations_of_several_habits() {
        let text = "He said \"a b\", „c d“ and «e»; 「你好」 but \"never closed\nhere\"";
        let quoted: Vec<_> = ranges(text).iter().map(|range| inner(text, range)).collect();
        assert_eq!(quoted, ["a b", "c d", "e", "你好"]);
        assert_eq!(without("run `x` as \"y\""), "run `x` as …");
    }
}
