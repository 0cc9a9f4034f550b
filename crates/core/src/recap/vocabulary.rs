//! Numbers for names and for the words in them, so that many searches share one table.

use smallvec::SmallVec;

use crate::names::NameTable;

/// Shorter words of a name are not compared with a question. In letters.
const WORD: usize = 3;

/// Gives each distinct name a number, counted from 0, and each distinct word of the names as well.
///
/// ```
/// use midfold_core::recap::vocabulary::NameVocabulary;
/// let mut names = NameVocabulary::default();
/// let number = names.number("showThemeSelector");
/// assert_eq!(names.number("showThemeSelector"), number);
/// assert_eq!(names.text(number), "showThemeSelector");
/// assert_eq!(names.words(number).len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameVocabulary {
    names: NameTable,
    /// The distinct words of the names, in lower case.
    words: NameTable,
    /// For each name, the numbers of its words.
    made_of: Vec<SmallVec<[u32; 4]>>,
    shortest: Option<usize>,
}

impl NameVocabulary {
    /// The number of a name; a new name gets the next number.
    pub fn number(&mut self, text: &str) -> u32 {
        let number = self.names.number(text);
        if self.made_of.len() < self.names.len() {
            let made_of = words(text).map(|word| self.words.number(&word.to_ascii_lowercase()));
            self.made_of.push(made_of.collect());
            self.shortest = Some(self.shortest.map_or(text.len(), |least| least.min(text.len())));
        }
        number
    }

    /// The number of a name, or `None` where the name is new.
    #[must_use]
    pub fn get(&self, text: &str) -> Option<u32> {
        self.names.get(text)
    }

    /// The name with this number; empty where there is none.
    #[must_use]
    pub fn text(&self, number: u32) -> &str {
        self.names.text(number)
    }

    /// The numbers of the words in the name with this number; empty where there is no such name.
    #[must_use]
    pub fn words(&self, number: u32) -> &[u32] {
        self.made_of.get(number as usize).map_or(&[], |words| words)
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a word, which has to be in lower case; `None` where no name has it.
    pub(super) fn word(&self, word: &str) -> Option<u32> {
        self.words.get(word)
    }

    /// The length of the shortest name, in bytes; 0 where there are no names.
    pub(super) fn shortest(&self) -> usize {
        self.shortest.unwrap_or(0)
    }
}

/// The words of a text or a name: `showThemeSelector` has three. Shorter words than [`WORD`] are left out.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| part.len() >= WORD);
    parts.flat_map(humps).filter(|word| word.len() >= WORD)
}

/// Splits a run of letters before each upper-case letter that follows a lower-case one.
fn humps(run: &str) -> impl Iterator<Item = &str> {
    let bytes = run.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(from..).filter(|rest| !rest.is_empty())?;
        let cut =
            rest.windows(2).position(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
        let end = cut.map_or(bytes.len(), |cut| from + cut + 1);
        let word = &run[from..end];
        from = end;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_words_of_its_humps() {
        let names: Vec<_> = words("showThemeSelector my_HTTPServer2 ab é").collect();
        assert_eq!(names, ["show", "Theme", "Selector", "HTTPServer"]);
    }

    #[test]
    fn words_are_the_same_in_any_case_and_names_are_not() {
        let mut names = NameVocabulary::default();
        let numbers = ["loadTheme", "LOAD_THEME", "loadTheme"].map(|name| names.number(name));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(names.words(0), names.words(1));
        assert_eq!((names.len(), names.words.len(), names.shortest()), (2, 2, 9));
        assert_eq!((names.get("loadtheme"), names.word("theme")), (None, Some(1)));
        assert_eq!(names.text(7), "");
    }
}
