//! What the reader of a recap is about to do, and how much more a part is worth for it.

use crate::recap::bound::WordMarks;
use crate::recap::gather::GatheredFacts;
use crate::recap::words::{WordSet, WordTable, key, words};

/// A part that holds the whole request weighs this much more, in halves. One that holds a share of its words gains that
/// share, so a long request names no particular part.
const ASKED: u64 = 48;
/// The most that words gain by what the request asks for, in halves.
const ASKED_WORDS: u64 = 2;

/// Each word of a focus adds this to the factor, in halves. So output with one weighs as much as the assistant's words.
const FOCUS: u64 = 240;

/// What the reader is about to do.
#[derive(Debug, Default)]
pub(super) struct ReaderInterest {
    /// The words of the open request.
    request_words: WordSet,
    /// The words of a focus, which somebody asked to keep.
    focus: WordSet,
    /// The words of the newest messages.
    newest: WordSet,
    /// Marks for the words of the request, and for those of the focus.
    marks: [WordMarks; 2],
}

impl ReaderInterest {
    /// The interest of a reader with this request and focus, who sees the messages of `later`.
    pub fn of(request: &str, focus: &[String], later: Option<&GatheredFacts>) -> Self {
        let tells = |word: &&str| !crate::recap::ordinary::is_ordinary(word) && word.len() > 2;
        let telling = |text: &str| -> WordSet {
            let mut all = WordSet::default();
            let plain = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            plain
                .filter(tells)
                .for_each(|word| all.extend(words(word).iter().map(|word| key(*word))));
            all
        };
        let parts = later.into_iter().flat_map(|later| &later.deeds).flat_map(|deed| &deed.parts);
        let (request_words, focus) = (telling(request), telling(&focus.join(" ")));
        let marks_of = |words: &WordSet| {
            let mut marks = WordMarks::default();
            words.iter().for_each(|word| marks.add(*word));
            marks
        };
        Self {
            marks: [marks_of(&request_words), marks_of(&focus)],
            request_words,
            focus,
            newest: parts.flat_map(|part| part.words.iter().map(|word| key(*word))).collect(),
        }
    }

    /// The factor for a part with these words, in halves.
    pub fn factor(&self, own: &[u32], is_output: bool, table: &WordTable) -> u64 {
        let count =
            |set: &WordSet| own.iter().filter(|word| set.contains(&key(**word))).count() as u64;
        let newest =
            own.iter().any(|word| table.is_rare_name(*word) && self.newest.contains(&key(*word)));
        let by_request =
            ASKED * count(&self.request_words) / self.request_words.len().max(1) as u64;
        // Words that repeat the request tell nothing new, but output that holds what it names may answer it.
        let by_request = if is_output { by_request } else { by_request.min(ASKED_WORDS) };
        2 + by_request + u64::from(newest) + FOCUS * count(&self.focus)
    }

    /// Whether these words hold one of the focus.
    pub fn is_focus(&self, own: &[u32]) -> bool {
        own.iter().any(|word| self.focus.contains(&key(*word)))
    }

    /// The most that the factor can be for a part of a deed with these marks.
    pub fn most(&self, of: &WordMarks) -> u64 {
        let count = |words: &WordSet, marks: &WordMarks| {
            // Words that share a mark are as many as the set has more of.
            let shared = marks.shared(of);
            if shared == 0 { 0 } else { shared + words.len() as u64 - marks.shared(marks) }
        };
        let by_request = count(&self.request_words, &self.marks[0]);
        let by_request = ASKED * by_request / self.request_words.len().max(1) as u64;
        3 + by_request + FOCUS * count(&self.focus, &self.marks[1])
    }
}
