//! Extracts words, quotations and rules from the text of a message.

/// The shortest word of the second extractor, in bytes.
const MIN_WORD: usize = 3;
/// The longest word, in bytes. Anything longer is data.
const MAX_WORD: usize = 80;

/// The words of the second, independent extractor: runs of letters, digits and `_`.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| (MIN_WORD..=MAX_WORD).contains(&word.len()))
}

/// The strings in double quotes or backticks on one line, of 4 to 80 bytes.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            loop {
                let open = rest.find(['"', '`'])?;
                let mark = rest.as_bytes()[open] as char;
                let inside = &rest[open + 1..];
                let close = inside.find(mark)?;
                rest = &inside[close + 1..];
                if (4..=80).contains(&close) {
                    return Some(&inside[..close]);
                }
            }
        })
    })
}

/// The longest sentence that counts as a rule, in characters.
const RULE_CHARS: usize = 300;
/// The words that make a sentence a rule.
const RULE_WORDS: [&str; 9] =
    ["must", "never", "always", "only", "do not", "don't", "without", "at least", "at most"];

/// The sentences of a user's message that state a rule, with white space folded. Code is left out. This is independent
/// of the code that finds rules for recaps, so that it can measure it.
pub(super) fn stated_rules(text: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            rules.extend(sentences(line).filter(|sentence| is_rule(sentence)).map(fold_space));
        }
    }
    rules
}

/// The sentences of a line. A sentence ends at `.`, `!` or `?` before white space, so a full stop inside a name ends
/// nothing.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let ends = |(at, c): &(usize, char)| {
            let next = rest[at + c.len_utf8()..].chars().next();
            matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace)
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then(|| sentence.trim_end())
    })
}

fn is_rule(sentence: &str) -> bool {
    // Editors write a curly apostrophe in `don’t`.
    let lower = sentence.to_lowercase().replace('’', "'");
    sentence.chars().count() <= RULE_CHARS && RULE_WORDS.iter().any(|word| holds(&lower, word))
}

fn holds(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        !text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter)
    })
}

/// The text with each run of white space as one space, so that line breaks do not matter.
pub(super) fn fold_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sentences_with_a_word_of_duty_outside_of_code() {
        let text = "Fix src/a.rs now. Never touch  db/x.sql again! It is lonely.\n```\nmust(x)\n```\nDon’t ask";
        assert_eq!(stated_rules(text), ["Never touch db/x.sql again!", "Don’t ask"]);
    }

    #[test]
    fn quoted_strings_end_on_their_line() {
        let strings: Vec<_> =
            quoted("say \"hello you\" and `src/x.rs` \"no\nend\" \"abc\"").collect();
        assert_eq!(strings, ["hello you", "src/x.rs"]);
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_underscores() {
        assert_eq!(
            words("a foo_bar(12345) é-ünï").collect::<Vec<_>>(),
            ["foo_bar", "12345", "ünï"]
        );
    }
}
