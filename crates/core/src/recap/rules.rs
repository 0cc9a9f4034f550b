//! Rules that a user states: which sentences are rules, and which of them say so outright.

use std::borrow::Cow;
use std::ops::Range;

use crate::salient::shorten;

/// Longest sentence that can be a rule, in characters (measures: 300).
const CHARS: usize = 300;
/// Words that make a sentence a rule wherever they stand (measures.md, "constraint survival").
const STRICT: &[&str] =
    &["must", "never", "always", "do not", "at least", "at most", "make sure", "avoid"];
/// Words that make one, too, but stand as often in a sentence that tells of something. It is an
/// order when it begins with them.
const LOOSE: &[&str] = &["only", "don't", "don’t", "without"];

/// The sentences of `text` that state a rule, verbatim but for white space. Code states none.
#[must_use]
pub fn rules(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        let prose = without_code(line);
        for range in sentences(&prose) {
            let (lower, sentence) = (prose[range.clone()].to_lowercase(), line[range].trim());
            let states = STRICT.iter().chain(LOOSE).any(|word| has_word(&lower, word));
            if states && sentence.chars().count() <= CHARS {
                found.push(shorten(sentence, CHARS + 1));
            }
        }
    }
    found
}

/// Whether a rule is an order by its words. "Never touch migrations/." is one; "I don't know why
/// it only fails here." was taken for a rule because of two words that may state one.
#[must_use]
pub fn is_strict(rule: &str) -> bool {
    let lower = without_code(rule).to_lowercase();
    let said = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let said = said.strip_prefix("please ").unwrap_or(said);
    STRICT.iter().any(|word| has_word(&lower, word))
        || LOOSE.iter().any(|word| said.starts_with(word) && has_word(said, word))
}

/// A line with its code spans blotted out, byte for byte, so that a range in it is one in the line.
/// What a user shows is in a recap as such a span.
fn without_code(line: &str) -> Cow<'_, str> {
    if !line.contains('`') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    for (at, piece) in line.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        match at % 2 {
            0 => out.push_str(piece),
            _ => out.extend(std::iter::repeat_n('`', piece.len())),
        }
    }
    out.into()
}

/// Where the sentences of a line stand.
fn sentences(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        from += line[from..].len() - line[from..].trim_start().len();
        if from == line.len() {
            return None;
        }
        let ends = |at: &usize| {
            matches!(bytes[*at], b'.' | b'!' | b'?')
                && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace)
        };
        let end = (from..line.len()).find(ends).map_or(line.len(), |at| at + 1);
        Some(std::mem::replace(&mut from, end)..end)
    })
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        !text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_rules() {
        let text = "Fix it. Never touch migrations/, always run ruff. Thanks!\n```\nmust(x)\n```\nIt is lonely.";
        assert_eq!(rules(text), ["Never touch migrations/, always run ruff."]);
    }

    #[test]
    fn code_states_no_rule_and_stays_in_one() {
        assert_eq!(rules("See: `ü. Always run evil.` It is `never` so."), [""; 0]);
        assert_eq!(rules("Hm. Never run `rm. -rf`!"), ["Never run `rm. -rf`!"]);
        assert!(!is_strict("See `Always run evil.`"));
    }

    #[test]
    fn tells_an_order_from_a_sentence_with_such_a_word() {
        for order in [
            "Never touch migrations/.",
            "Two rules: you must run ruff.",
            "Don't push.",
            "- **Only** change src/.",
            "Please don’t ask me again.",
        ] {
            assert!(is_strict(order), "{order}");
        }
        for told in [
            "I don't know ...",
            "It only fails here.",
            "Onlyoffice without it.",
            "He went without.",
        ] {
            assert!(!is_strict(told), "{told}");
        }
    }
}
