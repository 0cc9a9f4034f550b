//! Words that a recap has to be about.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

/// Wanted words, and the least weight of a line of output that holds one of them.
pub(super) struct WantedWords {
    words: AhoCorasick,
    pub weight: u32,
}

impl WantedWords {
    pub(super) fn of(words: &[String], weight: u32) -> Option<Self> {
        // The matcher ignores case for ASCII letters only, so a word that begins with another letter is also added
        // with a capital.
        let capital = |word: &String| {
            let mut chars = word.chars();
            let first = chars.next().filter(|first| !first.is_ascii())?;
            Some(first.to_uppercase().chain(chars).collect::<String>())
        };
        let all = words.iter().cloned().chain(words.iter().filter_map(capital));
        let words = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(all).ok()?;
        (words.patterns_len() > 0).then_some(Self { words, weight })
    }

    /// Whether a text holds one of the words.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.words.is_match(text)
    }
}
