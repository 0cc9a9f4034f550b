//! Names that left: what history says and the context does not, most likely needed first.
//!
//! A recap names what its budget has room for. This is the rest of its index, asked for with a
//! question: so dense that one short answer holds a hundred names.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::ids::identifiers;
use crate::recap::idtable::{IdTable, IdUse};
use crate::recap::rank::{hope, log2, worth};
use crate::view::{Role, View};

/// A name whose words the question has, all of them: hundredths of a natural logarithm of the
/// odds, as in the ranking of a recap. Varied in replay at windows of 8,000 to 32,000, where the
/// question is all of the newest text.
const ASKED: i64 = 100;
/// The same for a question that somebody put into words, as for the focus of a recap.
const MEANT: i64 = 1_000;
/// Most words of such a question.
const QUESTION: usize = 32;
/// For each doubling of its age in events, four times.
const AGE: i64 = -10;
/// Shortest word of a name that is compared with the question, in letters.
const WORD: usize = 3;

/// The names of a history, and how each was used.
///
/// ```
/// use midfold_core::recap::gone::{By, Gone};
/// let mut gone = Gone::default();
/// gone.add(0, By::Result, "src/retry.rs and src/http.rs");
/// gone.add(1, By::Assistant, "src/main.rs");
/// let names = gone.best("how does the retry work?", 2_000, |name| name == "src/main.rs");
/// assert_eq!(names.names, ["src/retry.rs", "src/http.rs"]);
/// assert_eq!(names.more, 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gone {
    ids: IdTable,
    newest: u32,
}

/// Who used a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The assistant, in a text or a call.
    Assistant,
    /// A user, or the system.
    User,
    /// The result of a call.
    Result,
}

impl By {
    /// Whose words a message holds.
    #[must_use]
    pub fn of(view: &View) -> Self {
        match view.role {
            Role::Assistant => Self::Assistant,
            _ if view.has_results() => Self::Result,
            Role::Tool => Self::Result,
            _ => Self::User,
        }
    }
}

impl Gone {
    /// Takes in the text of an event. Events come in order.
    pub fn add(&mut self, seq: u32, by: By, text: &str) {
        identifiers(text).for_each(|id| self.add_name(seq, by, id));
    }

    /// Takes in one name of an event.
    pub fn add_name(&mut self, seq: u32, by: By, id: &str) {
        self.newest = self.newest.max(seq);
        let Some(used) = self.ids.once(id, seq) else { return };
        match by {
            By::Assistant => used.said += 1,
            By::User => used.user += 1,
            By::Result => used.result += 1,
        }
    }

    /// The names that are not `here`, the most likely needed for the question first: by how they
    /// were used, by their length, by the words that they share with the question, the newest
    /// before the oldest. As many as `chars` characters hold, one space apart.
    pub fn best(&self, question: &str, chars: usize, here: impl Fn(&str) -> bool) -> Best<'_> {
        let asked: FxHashSet<String> = words(question).map(str::to_ascii_lowercase).collect();
        let mut word = String::new();
        let gone = self.ids.iter().filter(|(id, _)| !here(id));
        let mut ranked: Vec<_> = gone
            .map(|(id, used)| (Reverse(self.value(id, used, &asked, &mut word)), used.first, id))
            .collect();
        let all = ranked.len();
        // A name and its space are two characters at least: more can never be told.
        let most = chars / 2 + 1;
        if most < all {
            ranked.select_nth_unstable(most);
            ranked.truncate(most);
        }
        ranked.sort_unstable();
        let mut room = chars + 1;
        let fits = |name: &&str| {
            let left = room.checked_sub(name.len() + 1);
            room = left.unwrap_or(0);
            left.is_some()
        };
        let names: Vec<_> = ranked.into_iter().map(|(_, _, id)| id).take_while(fits).collect();
        Best { more: all - names.len(), names }
    }

    /// `word`: room for one.
    fn value(
        &self,
        id: &str,
        used: &IdUse,
        asked: &FxHashSet<String>,
        word: &mut String,
    ) -> i64 {
        let (mut all, mut shared) = (0, 0);
        if !asked.is_empty() {
            for part in words(id) {
                word.clear();
                word.push_str(part);
                word.make_ascii_lowercase();
                all += 1;
                shared += i64::from(asked.contains(word.as_str()));
            }
        }
        let weight = if asked.len() > QUESTION { ASKED } else { MEANT };
        let age = self.newest.saturating_sub(used.last);
        worth(id, hope(id, used, &[])) + weight * shared / all.max(1) + AGE * log2(age)
    }
}

/// Names that left, the best of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Best<'a> {
    /// The most likely needed first.
    pub names: Vec<&'a str>,
    /// How many more there are.
    pub more: usize,
}

/// The words of a text or a name: `showThemeSelector` has three.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| part.len() >= WORD);
    parts.flat_map(humps).filter(|word| word.len() >= WORD)
}

/// Cuts a run of letters before each upper-case letter that follows a lower-case one.
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
        let found: Vec<_> = words("showThemeSelector my_HTTPServer2 ab é").collect();
        assert_eq!(found, ["show", "Theme", "Selector", "HTTPServer"]);
    }

    #[test]
    fn what_is_here_is_not_gone_and_the_question_comes_first() {
        let mut gone = Gone::default();
        gone.add(3, By::Result, "loadConfig parseTheme saveColor");
        assert_eq!(gone.best("the theme", 99, |id| id == "saveColor").names, ["parseTheme", "loadConfig"]);
    }

    #[test]
    fn the_newest_comes_before_the_oldest() {
        let mut gone = Gone::default();
        gone.add(0, By::Result, "first_one");
        gone.add(90, By::Result, "later_one");
        assert_eq!(gone.best("", 99, |_| false).names, ["later_one", "first_one"]);
    }

    #[test]
    fn only_whole_names_fit() {
        let mut gone = Gone::default();
        gone.add(0, By::Result, "ab_1 cd_2 ef_3");
        assert_eq!(gone.best("", 9, |_| false).names, ["ab_1", "cd_2"]);
        assert_eq!(gone.best("", 8, |_| false), Best { names: vec!["ab_1"], more: 2 });
        assert_eq!(gone.best("", 3, |_| false), Best { names: vec![], more: 3 });
    }
}
