//! Function words of English, which say nothing by themselves: articles, pronouns, auxiliaries, prepositions,
//! conjunctions, and the stumps of contractions (`don` of `don't`).

use std::sync::LazyLock;

/// The function words in lower case, sorted.
static ORDINARY: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("../../data/ordinary.txt").lines().collect());

/// Whether a word is a function word, in upper or lower case.
///
/// ```
/// use midfold_core::recap::ordinary::is_ordinary;
/// assert!(is_ordinary("Because") && !is_ordinary("billing"));
/// ```
#[must_use]
pub fn is_ordinary(word: &str) -> bool {
    /// The length of the longest listed word, in bytes.
    const LONGEST: usize = 10;
    let mut lower = [0_u8; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    ORDINARY.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched_and_every_word_of_it_is_found() {
        assert!(ORDINARY.is_sorted());
        assert!(ORDINARY.iter().all(|word| is_ordinary(word)));
    }
}
