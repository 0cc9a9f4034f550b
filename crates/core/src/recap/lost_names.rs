//! Names that occur in the log and no longer in the context, the most likely needed first.
//!
//! A recap names as much as its budget allows. These are the remaining names, ranked for a question. The answer is
//! a dense list: a hundred names fit into a short one.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ids::identifiers;
use crate::recap::vocabulary::{NameVocabulary, words};
use crate::view::{EventView, Role};

/// Worth of a name that shares all its words with the question.
const ASKED: u32 = 64;
/// Worth of a name that the assistant or a user wrote: such names are often written again.
const WRITTEN: u32 = 4;
/// The most worth of a name because of its age: it falls by one with each doubling of the age in events.
const NEW: u32 = 16;

/// The names of a history, and how each was used.
///
/// ```
/// use midfold_core::recap::lost_names::{LostNames, NameUser};
/// let mut gone = LostNames::default();
/// gone.add(0, NameUser::Result, "src/retry.rs and src/http.rs");
/// gone.add(1, NameUser::Assistant, "src/main.rs");
/// let names = gone.best("how does the retry work?", 2_000, |_, name| name == "src/main.rs");
/// assert_eq!(names, ["src/retry.rs", "src/http.rs"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LostNames {
    names: Arc<NameVocabulary>,
    /// How each name was used; `None` where it was not. The index is the number of the name.
    used: Vec<Option<NameUse>>,
    /// Seq of the newest event, from which ages are counted.
    newest: u32,
}

/// How a name was used.
#[derive(Clone, Copy, Debug)]
struct NameUse {
    /// Seq of the event that has it first.
    first: u32,
    /// Seq of the event that has it last.
    last: u32,
    /// Whether the assistant or a user wrote it.
    written: bool,
}

/// Who used a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameUser {
    /// The assistant, in a text or a call.
    Assistant,
    /// A user, or the system.
    User,
    /// The result of a call.
    Result,
}

impl NameUser {
    /// The user of the names in a message, by its role.
    #[must_use]
    pub fn of(view: &EventView) -> Self {
        match view.role {
            Role::Assistant => Self::Assistant,
            _ if view.has_results() => Self::Result,
            Role::Tool => Self::Result,
            _ => Self::User,
        }
    }
}

impl LostNames {
    /// A history in which these names are unused so far. Several histories may share the names.
    #[must_use]
    pub fn over(names: Arc<NameVocabulary>) -> Self {
        Self { names, ..Self::default() }
    }

    /// Adds the names in the text of an event. Events come in order.
    pub fn add(&mut self, seq: u32, by: NameUser, text: &str) {
        for id in identifiers(text) {
            let number = match self.names.get(id) {
                Some(number) => number,
                None => Arc::make_mut(&mut self.names).number(id),
            };
            self.add_known(seq, by, number);
        }
    }

    /// Adds one name of an event by its number. An unknown number is ignored.
    pub fn add_known(&mut self, seq: u32, by: NameUser, number: u32) {
        let at = number as usize;
        if at >= self.names.len() {
            return;
        }
        self.newest = self.newest.max(seq);
        if at >= self.used.len() {
            self.used.resize(at + 1, None);
        }
        let used = self.used[at].get_or_insert(NameUse { first: seq, last: seq, written: false });
        used.last = seq;
        used.written |= by != NameUser::Result;
    }

    /// The names for which `here` is false, the most likely needed for the question first. The words that a name
    /// shares with the question, its author and its age decide. The answer has as many names as fit into `chars` bytes
    /// with one space between them.
    pub fn best(
        &self,
        question: &str,
        chars: usize,
        here: impl Fn(u32, &str) -> bool,
    ) -> Vec<&str> {
        let question_words: FxHashSet<u32> = words(question)
            .filter_map(|word| self.names.word(&word.to_ascii_lowercase()))
            .collect();
        let worth = |number: u32, used: &NameUse| {
            let words = self.names.words(number);
            let shared = words.iter().filter(|word| question_words.contains(*word)).count();
            let shared = u32::try_from(shared * ASKED as usize / words.len().max(1));
            let age = (self.newest.saturating_sub(used.last) + 1).ilog2();
            shared.unwrap_or(0) + u32::from(used.written) * WRITTEN + NEW.saturating_sub(age)
        };
        let mut ranked: Vec<_> = self
            .used()
            .filter(|(number, _)| !here(*number, self.names.text(*number)))
            .map(|(number, used)| (Reverse(worth(number, used)), used.first, number))
            .collect();
        // No more names than this fit into the answer, and the others need no order.
        let most = chars / (self.names.shortest() + 1) + 1;
        if most < ranked.len() {
            ranked.select_nth_unstable(most);
            ranked.truncate(most);
        }
        ranked.sort_unstable();
        // The last name has no space behind it.
        let mut room = chars + 1;
        let fits = |name: &&str| {
            let rest = room.checked_sub(name.len() + 1);
            room = rest.unwrap_or(0);
            rest.is_some()
        };
        ranked.into_iter().map(|(.., number)| self.names.text(number)).take_while(fits).collect()
    }

    /// How many of the used names are not `here`.
    pub fn count(&self, here: impl Fn(&str) -> bool) -> usize {
        self.used().filter(|(number, _)| !here(self.names.text(*number))).count()
    }

    /// The numbers of the used names, each with its uses.
    fn used(&self) -> impl Iterator<Item = (u32, &NameUse)> {
        (0..).zip(&self.used).filter_map(|(number, used)| Some((number, used.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_not_gone_and_the_question_comes_first() {
        let mut names = LostNames::default();
        names.add(3, NameUser::Result, "loadConfig parseTheme saveColor");
        let here = |_, id: &str| id == "saveColor";
        assert_eq!(names.best("the theme", 99, here), ["parseTheme", "loadConfig"]);
        assert_eq!(names.count(|id| id == "saveColor"), 2);
    }

    #[test]
    fn names_may_be_shared_and_only_what_was_used_is_told() {
        let mut names = NameVocabulary::default();
        let [first, second] = ["loadConfig", "parseTheme"].map(|name| names.number(name));
        let names = Arc::new(names);
        let [mut one, mut other] = [LostNames::over(names.clone()), LostNames::over(names)];
        one.add_known(0, NameUser::Result, second);
        one.add_known(0, NameUser::Result, u32::MAX);
        one.add(1, NameUser::Result, "saveColor");
        other.add_known(0, NameUser::Result, first);
        assert_eq!(one.best("", 99, |_, _| false), ["saveColor", "parseTheme"]);
        assert_eq!(other.best("", 99, |_, _| false), ["loadConfig"]);
        assert_eq!((one.count(|_| false), other.count(|_| false)), (2, 1));
    }

    #[test]
    fn what_was_written_and_what_is_new_comes_first() {
        let mut names = LostNames::default();
        names.add(0, NameUser::Result, "first_one");
        names.add(90, NameUser::Result, "later_one");
        names.add(90, NameUser::Assistant, "other_one");
        assert_eq!(names.best("", 99, |_, _| false), ["other_one", "later_one", "first_one"]);
        assert_eq!(names.best("the first?", 99, |_, _| false)[0], "first_one");
    }

    #[test]
    fn only_whole_names_fit() {
        let mut names = LostNames::default();
        names.add(0, NameUser::Result, "ab_1 cd_2 ef_3");
        assert_eq!(names.best("", 9, |_, _| false), ["ab_1", "cd_2"]);
        assert_eq!(names.best("", 8, |_, _| false), ["ab_1"]);
        assert!(names.best("", 3, |_, _| false).is_empty());
        assert!(LostNames::default().best("", 9, |_, _| false).is_empty());
    }
}
