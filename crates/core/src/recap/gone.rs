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
/// let names = gone.ranked("how does the retry work?", |name| name == "src/main.rs");
/// assert_eq!(names[0], "src/retry.rs");
/// assert_eq!(names.len(), 2);
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
    /// before the oldest.
    pub fn ranked(&self, question: &str, here: impl Fn(&str) -> bool) -> Vec<&str> {
        let asked: FxHashSet<String> = words(question).collect();
        let gone = self.ids.iter().filter(|(id, _)| !here(id));
        let mut ranked: Vec<_> = gone
            .map(|(id, used)| (Reverse(self.value(id, used, &asked)), used.first, id))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, _, id)| id).collect()
    }

    fn value(&self, id: &str, used: &IdUse, asked: &FxHashSet<String>) -> i64 {
        let (mut all, mut shared) = (0, 0);
        if !asked.is_empty() {
            for word in words(id) {
                all += 1;
                shared += i64::from(asked.contains(&word));
            }
        }
        let weight = if asked.len() > QUESTION { ASKED } else { MEANT };
        let age = self.newest.saturating_sub(used.last);
        worth(id, hope(id, used, &[])) + weight * shared / all.max(1) + AGE * log2(age)
    }
}

/// As many of the names, one space apart, as `chars` characters hold.
#[must_use]
pub fn fit<'a>(names: &[&'a str], chars: usize) -> Vec<&'a str> {
    let mut room = chars + 1;
    let fits = |name: &&&str| {
        let left = room.checked_sub(name.len() + 1);
        room = left.unwrap_or(0);
        left.is_some()
    };
    names.iter().take_while(fits).copied().collect()
}

/// The words of a text or a name, in lower case: `showThemeSelector` has three.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| part.len() >= WORD);
    parts.flat_map(humps).filter(|word| word.len() >= WORD).map(str::to_ascii_lowercase)
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
        assert_eq!(found, ["show", "theme", "selector", "httpserver"]);
    }

    #[test]
    fn what_is_here_is_not_gone_and_the_question_comes_first() {
        let mut gone = Gone::default();
        gone.add(3, By::Result, "loadConfig parseTheme saveColor");
        assert_eq!(gone.ranked("the theme", |id| id == "saveColor"), ["parseTheme", "loadConfig"]);
    }

    #[test]
    fn the_newest_comes_before_the_oldest() {
        let mut gone = Gone::default();
        gone.add(0, By::Result, "first_one");
        gone.add(90, By::Result, "later_one");
        assert_eq!(gone.ranked("", |_| false), ["later_one", "first_one"]);
    }

    #[test]
    fn only_whole_names_fit() {
        assert_eq!(fit(&["ab_1", "cd_2", "ef_3"], 9), ["ab_1", "cd_2"]);
        assert_eq!(fit(&["ab_1", "cd_2"], 8), ["ab_1"]);
        assert!(fit(&["ab_1"], 3).is_empty());
    }
}
