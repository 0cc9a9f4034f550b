//! Rules that a user states: which sentences are rules, and which of them say so outright.

use crate::reduce::shorten;

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
        for sentence in sentences(line) {
            let lower = sentence.to_lowercase();
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
    let lower = rule.to_lowercase();
    let said = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let said = said.strip_prefix("please ").unwrap_or(said);
    STRICT.iter().any(|word| has_word(&lower, word))
        || LOOSE.iter().any(|word| said.starts_with(word) && has_word(said, word))
}

fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let ends = |at: &usize| {
            matches!(bytes[*at], b'.' | b'!' | b'?')
                && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace)
        };
        let end = (0..bytes.len()).find(ends).map_or(rest.len(), |at| at + 1);
        let (sentence, left) = rest.split_at(end);
        rest = left;
        Some(sentence.trim())
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
