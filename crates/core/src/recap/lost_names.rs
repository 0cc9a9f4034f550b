//! Names that occur in the log and no longer in the context, the most likely needed first.
//!
//! A recap names as much as its budget allows. These are the remaining names, ranked for a question. The answer is
//! a dense list: a hundred names fit into a short one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ids::identifiers;
use crate::recap::idtable::IdUse;
use crate::recap::rank::{BestOf, hope, log2, size, worth};
use crate::recap::vocabulary::{NameVocabulary, NameWords, words};
use crate::view::{EventView, Role};

/// Gain of a name that shares all its words with a long question. The unit is a hundredth of a natural logarithm
/// of the odds, as in the ranking of a recap. Tuned in replay at windows of 8,000 to 32,000 tokens, where the question
/// is the whole newest text.
const ASKED: i64 = 100;
/// The same gain for a question that somebody put into words, as for the focus of a recap.
const MEANT: i64 = 1_000;
/// A question of more words than this counts as a long text.
const QUESTION: usize = 32;
/// Change in worth for each doubling of a name's age in events, applied four times, because `log2` counts quarters.
/// Tuned in the same way, as is [`LENGTH`].
const AGE: i64 = -15;
/// Change in worth for each doubling of a name's length, applied four times. It is added to the change that a recap
/// makes, because an answer is short.
const LENGTH: i64 = -10;
/// Names are grouped by their worth in steps of this size. In the groups of little worth, only the newest names
/// have to be compared.
const STEP: i64 = 8;
/// Up to this many outdated uses are left in a list before it is cleaned.
const KEPT: usize = 16;

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
    /// How each name was used. The index is the number of the name.
    used: Vec<NameUses>,
    /// Seq of each name's last use. It is stored apart, because an answer reads it for most names.
    last: Vec<u32>,
    /// Uses, grouped by the worth that the name had then, in steps of [`STEP`].
    uses: BTreeMap<i64, UseOrder>,
    /// Seq of the newest event, from which ages are counted.
    newest: u32,
}

/// How a name was used, and what it was worth at its last use.
#[derive(Clone, Debug, Default)]
struct NameUses {
    /// How often each author used it.
    by: IdUse,
    /// Its worth at the last use, which decides its group.
    worth: i64,
}

impl NameUses {
    fn times(&self) -> u32 {
        self.by.said + self.by.user + self.by.result
    }
}

/// Uses of about the same worth, in order. Only the last use of a name counts.
#[derive(Clone, Debug, Default)]
struct UseOrder {
    list: Vec<NameUse>,
    /// How many uses in the list are the last of their names.
    last: usize,
}

/// One use of a name in an event.
#[derive(Clone, Debug)]
struct NameUse {
    /// Seq of the event.
    seq: u32,
    /// The number of the name.
    number: u32,
    /// The words of the name. They are copied here because most uses are skipped after a look at them, and the names
    /// themselves lie far apart in memory.
    words: NameWords,
}

impl NameUse {
    /// Whether the name was not used again later.
    fn is_last(&self, last: &[u32]) -> bool {
        last.get(self.number as usize) == Some(&self.seq)
    }
}

impl UseOrder {
    /// Adds a use, which is the last of its name. Outdated uses are removed before they are more than half of the
    /// list, because every answer reads the whole list.
    fn add(&mut self, used: NameUse, last: &[u32]) {
        self.list.push(used);
        self.last += 1;
        if self.list.len() > 2 * self.last + KEPT {
            self.list.retain(|used| used.is_last(last));
        }
    }
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
            self.add_name(seq, by, id);
        }
    }

    /// Adds one name of an event.
    pub fn add_name(&mut self, seq: u32, by: NameUser, name: &str) {
        let number = match self.names.get(name) {
            Some(number) => number,
            None => Arc::make_mut(&mut self.names).number(name),
        };
        self.add_known(seq, by, number);
    }

    /// Adds one name of an event by its number. An unknown number is ignored.
    pub fn add_known(&mut self, seq: u32, by: NameUser, number: u32) {
        let at = number as usize;
        if at >= self.names.len() {
            return;
        }
        self.newest = self.newest.max(seq);
        if at >= self.used.len() {
            self.used.resize_with(at + 1, NameUses::default);
            self.last.resize(at + 1, 0);
        }
        let (used, last) = (&mut self.used[at], &mut self.last[at]);
        let before = (used.times() > 0).then_some(used.worth);
        if before.is_some() && *last == seq {
            return;
        }
        if before.is_none() {
            used.by.first = seq;
        }
        *last = seq;
        used.by.last = seq;
        match by {
            NameUser::Assistant => used.by.said += 1,
            NameUser::User => used.by.user += 1,
            NameUser::Result => used.by.result += 1,
        }
        let name = self.names.text(number);
        used.worth = worth(name, hope(name, &used.by, &[])) + LENGTH * size(name);
        if let Some(uses) = before.and_then(|worth| self.uses.get_mut(&step(worth))) {
            // The former use stays in its list, outdated, until the list is cleaned.
            uses.last -= 1;
        }
        let uses = self.uses.entry(step(used.worth)).or_default();
        uses.add(NameUse { seq, number, words: self.names.words(number).into() }, &self.last);
    }

    /// The names for which `here` is false, the most likely needed for the question first. How a name was used, its
    /// length, the words that it shares with the question and its age decide. The answer has as many names as fit into
    /// `chars` bytes with one space between them.
    pub fn best(
        &self,
        question: &str,
        chars: usize,
        here: impl Fn(u32, &str) -> bool,
    ) -> Vec<&str> {
        let asked = QuestionWords::new(question, &self.names);
        // No more than this many names fit into the answer.
        let most = chars / (self.names.shortest() + 1) + 1;
        let mut ranked: BestOf<(Reverse<i64>, u32, &str)> = BestOf::of(most, self.used.len());
        // No name that is worth less than this can still get into the answer.
        let mut least = i64::MIN;
        for (step, uses) in self.uses.iter().rev() {
            // An upper limit for the worth of the names in this group.
            let below = (step + 1) * STEP;
            let (mut at, mut age) = (None, 0);
            for used in uses.list.iter().rev() {
                if at != Some(used.seq) {
                    at = Some(used.seq);
                    age = AGE * log2(self.newest.saturating_sub(used.seq));
                }
                // The rest of this list is older and thus worth less, so its search ends here.
                if below + asked.weight + age < least {
                    break;
                }
                let asked_for = asked.shared(&used.words) + age;
                if below + asked_for < least || !used.is_last(&self.last) {
                    continue;
                }
                let Some(known) = self.used.get(used.number as usize) else { continue };
                let value = known.worth + asked_for;
                let name = self.names.text(used.number);
                if value < least || here(used.number, name) {
                    continue;
                }
                ranked.add((Reverse(value), known.by.first, name));
                least = ranked.bound().map_or(least, |(worth, _, _)| worth.0);
            }
        }
        let ranked = ranked.in_order();
        // The last name has no space behind it.
        let mut room = chars + 1;
        let fits = |name: &&str| {
            let left = room.checked_sub(name.len() + 1);
            room = left.unwrap_or(0);
            left.is_some()
        };
        ranked.into_iter().map(|(_, _, name)| name).take_while(fits).collect()
    }

    /// How many of the used names are not `here`.
    pub fn count(&self, here: impl Fn(&str) -> bool) -> usize {
        let used = (0..).zip(&self.used).filter(|(_, used)| used.times() > 0);
        used.filter(|(number, _)| !here(self.names.text(*number))).count()
    }
}

/// The group in which a name of this worth is kept.
fn step(worth: i64) -> i64 {
    worth.div_euclid(STEP)
}

/// The words of a question that occur in names.
struct QuestionWords {
    /// Whether the question has a word, by the word's number.
    known: Vec<bool>,
    /// What a name gains that shares all its words: less for a long question.
    weight: i64,
}

impl QuestionWords {
    fn new(question: &str, names: &NameVocabulary) -> Self {
        let mut known = vec![false; names.word_count()];
        // Only whether there are more than [`QUESTION`] words matters, so no more are collected.
        let mut asked: FxHashSet<String> = FxHashSet::default();
        let mut word = String::new();
        for part in words(question) {
            word.clear();
            word.push_str(part);
            word.make_ascii_lowercase();
            if let Some(known) = names.word(&word).and_then(|at| known.get_mut(at as usize)) {
                *known = true;
            }
            if asked.len() <= QUESTION && !asked.contains(&word) {
                asked.insert(word.clone());
            }
        }
        Self { known, weight: if asked.len() > QUESTION { ASKED } else { MEANT } }
    }

    /// What a name gains by the words that it shares with the question.
    fn shared(&self, words: &[u32]) -> i64 {
        let asked = |word: &&u32| self.known.get(**word as usize) == Some(&true);
        let shared = i64::try_from(words.iter().filter(asked).count()).unwrap_or(0);
        self.weight * shared / i64::try_from(words.len().max(1)).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_not_gone_and_the_question_comes_first() {
        let mut gone = LostNames::default();
        gone.add(3, NameUser::Result, "loadConfig parseTheme saveColor");
        let here = |_, id: &str| id == "saveColor";
        assert_eq!(gone.best("the theme", 99, here), ["parseTheme", "loadConfig"]);
        assert_eq!(gone.count(|id| id == "saveColor"), 2);
    }

    #[test]
    fn names_may_be_shared_and_only_what_was_used_is_told() {
        let mut names = NameVocabulary::default();
        let [first, second] = ["loadConfig", "parseTheme"].map(|name| names.number(name));
        let names = Arc::new(names);
        let [mut one, mut other] = [LostNames::over(names.clone()), LostNames::over(names)];
        one.add_known(0, NameUser::Result, second);
        one.add_known(0, NameUser::Result, u32::MAX);
        one.add_name(1, NameUser::Result, "saveColor");
        other.add_known(0, NameUser::Result, first);
        assert_eq!(one.best("", 99, |_, _| false), ["saveColor", "parseTheme"]);
        assert_eq!(other.best("", 99, |_, _| false), ["loadConfig"]);
        assert_eq!((one.count(|_| false), other.count(|_| false)), (2, 1));
    }

    #[test]
    fn the_newest_comes_before_the_oldest() {
        let mut gone = LostNames::default();
        gone.add(0, NameUser::Result, "first_one");
        gone.add(90, NameUser::Result, "later_one");
        assert_eq!(gone.best("", 99, |_, _| false), ["later_one", "first_one"]);
    }

    #[test]
    fn length_counts_more_than_in_a_recap() {
        let long = "a_name_of_this_length_and_a_half";
        let mut gone = LostNames::default();
        gone.add(0, NameUser::Assistant, long);
        gone.add(0, NameUser::Result, "name_1");
        let said = IdUse { said: 1, ..IdUse::default() };
        let shown = IdUse { result: 1, ..IdUse::default() };
        let in_recap = |id, used| worth(id, hope(id, &used, &[]));
        assert!(in_recap(long, said) > in_recap("name_1", shown));
        assert_eq!(gone.best("", 99, |_, _| false), ["name_1", long]);
    }

    #[test]
    fn uses_that_are_no_last_ones_do_not_pile_up() {
        let mut gone = LostNames::default();
        for seq in 0..5_000 {
            gone.add(seq, NameUser::Result, "often_1");
            gone.add(seq, NameUser::Result, if seq == 7 { "once_1" } else { "often_2" });
        }
        let held: usize = gone.uses.values().map(|uses| uses.list.len()).sum();
        let last: usize = gone.uses.values().map(|uses| uses.last).sum();
        assert_eq!(last, 3);
        assert!(held <= 2 * last + KEPT * gone.uses.len(), "{held}");
        assert_eq!(gone.best("", 99, |_, _| false).len(), 3);
    }

    #[test]
    fn only_whole_names_fit() {
        let mut gone = LostNames::default();
        gone.add(0, NameUser::Result, "ab_1 cd_2 ef_3");
        assert_eq!(gone.best("", 9, |_, _| false), ["ab_1", "cd_2"]);
        assert_eq!(gone.best("", 8, |_, _| false), ["ab_1"]);
        assert!(gone.best("", 3, |_, _| false).is_empty());
        assert!(LostNames::default().best("", 9, |_, _| false).is_empty());
    }

    proptest::proptest! {
        /// Not all old names are compared, and still the answer is the same as that of comparing all.
        #[test]
        fn the_best_are_the_best_of_all(
            uses in proptest::collection::vec((0..60u32, 0..3u8, 0..400u32), 1..900),
            chars in 1..300usize,
            question in "[a-d]{3} [a-d]{3}",
        ) {
            let mut gone = LostNames::default();
            let mut seq = 0;
            for (step, by, id) in uses {
                seq += step;
                let by = [NameUser::Assistant, NameUser::User, NameUser::Result][usize::from(by)];
                let (a, b) = ((b'a' + (id % 4) as u8) as char, (b'a' + (id / 4 % 4) as u8) as char);
                gone.add_name(seq, by, &format!("{a}{b}{a}_{id}"));
            }
            let here = |number: u32, _: &str| number.is_multiple_of(7);
            let asked = QuestionWords::new(&question, &gone.names);
            let mut all: Vec<_> = (0u32..).zip(&gone.used).filter(|(n, _)| !here(*n, "")).map(|(n, used)| {
                let age = AGE * log2(gone.newest - used.by.last);
                let value = used.worth + asked.shared(gone.names.words(n)) + age;
                (Reverse(value), used.by.first, gone.names.text(n))
            }).collect();
            all.sort_unstable();
            let mut left = chars + 1;
            let wanted: Vec<_> = all.into_iter().map(|(_, _, id)| id).take_while(|id| {
                let fits = id.len() < left;
                left = left.saturating_sub(id.len() + 1);
                fits
            }).collect();
            proptest::prop_assert_eq!(gone.best(&question, chars, here), wanted);
        }
    }
}
