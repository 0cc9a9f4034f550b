//! Words that say nothing by themselves, the closed classes of English: articles, pronouns,
//! auxiliaries, prepositions, conjunctions, and the stumps of contractions (`don` of `don't`).

use std::sync::LazyLock;

/// Those of English, a line each, in lower case and sorted.
static ORDINARY: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("../../data/ordinary.txt").lines().collect());

/// True of a word that says nothing by itself, in whatever case.
///
/// ```
/// use midfold_core::recap::ordinary::is_ordinary;
/// assert!(is_ordinary("Because") && !is_ordinary("billing"));
/// ```
#[must_use]
pub fn is_ordinary(word: &str) -> bool {
    /// The longest in the list.
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
