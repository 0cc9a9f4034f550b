//! Salient lines of a result: errors, failing tests, fatal log lines, which a reader would look for in a long output.

use std::sync::LazyLock;

use crate::text_finder::{LetterCase, TextFinder};

/// Longest line that is quoted, in characters.
pub(crate) const LINE_CHARS: usize = 200;

/// Words that make a line salient, in any case.
const WORDS: &[&str] = &[
    "error",
    "fail",
    "fatal",
    "exception",
    "traceback",
    "panic",
    "assert",
    "not found",
    "denied",
    "refused",
    "undefined",
    "unresolved",
    "cannot ",
    "invalid",
    "timed out",
    "timeout",
    "segfault",
    "abort",
    "conflict",
    "unexpected",
    "mismatch",
];
/// Phrases that make a line not salient: they count zero errors.
const HARMLESS: &[&str] =
    &["0 errors", "0 failed", "no errors", "0 failures", "errors: 0", "failed: 0"];

static FINDER: LazyLock<TextFinder> =
    LazyLock::new(|| TextFinder::new(LetterCase::Any, WORDS.iter().copied()));

/// Whether a line may be salient: it holds one of the words.
pub(crate) fn may_be_salient(line: &str) -> bool {
    FINDER.find(line).next().is_some()
}

/// The salient lines of `text`, in order and each once, up to `cap` characters in all.
pub(crate) fn lines(text: &str, cap: usize) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    if cap == 0 {
        return chosen;
    }
    let mut used = 0;
    // One search over the whole text: a hit takes its whole line, and the search continues behind that.
    let mut hits = FINDER.find(text);
    while let Some(hit) = hits.next() {
        let bytes = text.as_bytes();
        let start = memchr::memrchr(b'\n', &bytes[..hit.at.start]).map_or(0, |n| n + 1);
        let end = memchr::memchr(b'\n', &bytes[hit.at.start..]);
        let end = end.map_or(text.len(), |n| hit.at.start + n);
        hits.skip_to(end);
        let line = shorten(text[start..end].trim(), LINE_CHARS);
        let lower = line.to_ascii_lowercase();
        let harmless = HARMLESS.iter().any(|word| lower.contains(word)) || is_rule(&line);
        if !harmless && !chosen.contains(&line) {
            used += line.chars().count() + 1;
            if used > cap {
                break;
            }
            chosen.push(line);
        }
    }
    chosen
}

/// Whether a line only separates: `===== FAILURES =====`.
fn is_rule(line: &str) -> bool {
    let drawn = line
        .bytes()
        .filter(|b| matches!(b, b'=' | b'-' | b'_' | b'*' | b'#' | b'~' | b'!'))
        .count();
    drawn * 2 >= line.len()
}

/// The text on one line, cut to `max` characters with an ellipsis.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max && is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(max * 4));
    let mut count = 0;
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            space = count > 0;
            continue;
        }
        if count + usize::from(space) >= max {
            out.push('…');
            return out;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
            count += 1;
        }
        out.push(c);
        count += 1;
    }
    out
}

/// Whether a text is ASCII on one line, with single spaces between its words and none around them. Most are.
fn is_plain(text: &str) -> bool {
    // As if a space were before the text, so that it may not begin with one.
    let mut after_space = true;
    let fits = |b: u8| {
        let follows = std::mem::replace(&mut after_space, b == b' ');
        matches!(b, b' '..=b'~') && !(follows && b == b' ')
    };
    text.bytes().all(fits) && !text.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_error_lines_once() {
        let text = "ok\nE   AssertionError: 1 != 2\nok\nE   AssertionError: 1 != 2\nFAILED a.py::t\n0 failed";
        assert_eq!(lines(text, 500), ["E AssertionError: 1 != 2", "FAILED a.py::t"]);
        assert_eq!(lines(text, 30), ["E AssertionError: 1 != 2"]);
        assert!(lines("", 10).is_empty());
        let report = lines("===== FAILURES =====\n> assert f() == 2\nE  AssertionError: 1", 500);
        assert_eq!(report, ["> assert f() == 2", "E AssertionError: 1"]);
    }

    #[test]
    fn shortens_to_one_line() {
        assert_eq!(shorten("a\n  b\tc", 10), "a b c");
        assert_eq!(shorten("abcdef", 3), "abc…");
        for (text, wanted) in [("a b", "a b"), (" a", "a"), ("a ", "a"), ("a  b", "a b"), ("", "")]
        {
            assert_eq!(shorten(text, 10), wanted);
        }
    }
}
