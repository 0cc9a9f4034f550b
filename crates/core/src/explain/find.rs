//! The search for a text: as whole words first, inside words where the log has it nowhere as a word, and with letters in
//! either case where no message has it as it is.

use std::ops::Range;

use memchr::memmem::Finder;
use regex::{Regex, RegexBuilder};

use crate::log::{Event, EventLog};
use crate::redact::KnownSecrets;

/// Bytes of context that a snippet shows on each side of a hit.
const AROUND: usize = 60;

/// The text that is searched.
pub(super) struct SearchText {
    text: String,
    finder: Finder<'static>,
    /// The text with letters in either case, where no message has it as it is.
    in_either_case: Option<Regex>,
    whole: bool,
    /// The text with single spaces, since recaps quote on one line.
    flat: String,
    /// The message that the question names by number; it counts as a hit whatever it says.
    event: Option<u32>,
    /// The number that the question names, where the log has no such message, and no text that says it.
    missing_event: Option<u64>,
}

/// The number of the message that a question names: 12 of `@12`.
#[must_use]
pub fn event_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('@').filter(|digits| !digits.starts_with('+'))?;
    digits.parse().ok()
}

impl SearchText {
    /// Searches whole words if the log has the text as such. `@12` is the message with that number.
    pub fn new(log: &EventLog, text: &str) -> Self {
        let flat = flatten(text);
        let number = event_number(text);
        let event = number.filter(|number| *number < log.len() as u64);
        let event = event.and_then(|number| u32::try_from(number).ok());
        let finder = Finder::new(text).into_owned();
        let (text, in_either_case) = (text.to_owned(), None);
        let mut new =
            Self { text, finder, in_either_case, whole: true, flat, event, missing_event: None };
        let is_there = |new: &Self| log.events().iter().any(|event| new.is_in(&event.text()));
        if event.is_some() || is_there(&new) {
            return new;
        }
        new.whole = false;
        if !is_there(&new) {
            let pattern =
                RegexBuilder::new(&regex::escape(&new.text)).case_insensitive(true).build();
            new.in_either_case = pattern.ok();
            new.missing_event = number;
        }
        new
    }

    /// The number of a message that the question names and the log does not have.
    pub fn missing_event(&self) -> Option<u64> {
        self.missing_event
    }

    pub fn is_of(&self, event: &Event) -> bool {
        self.event.map_or_else(|| self.is_in(&event.text()), |seq| seq == event.seq)
    }

    /// Whether a form of the event, which may be shortened, still has the text.
    pub fn is_in(&self, text: &str) -> bool {
        self.event.is_some() || self.find(text).is_some()
    }

    /// Whether a recap has the text, perhaps on one line.
    pub fn is_in_recap(&self, recap: &str) -> bool {
        self.find(recap).is_some()
            || (self.flat != self.text && flatten(recap).contains(&self.flat))
    }

    /// The first hit, as a range of bytes.
    fn find(&self, text: &str) -> Option<Range<usize>> {
        if let Some(pattern) = &self.in_either_case {
            return pattern.find(text).map(|hit| hit.range());
        }
        let hits = self.finder.find_iter(text.as_bytes()).map(|at| at..at + self.text.len());
        let is_word = |hit: &Range<usize>| is_edge(text, hit.start) && is_edge(text, hit.end);
        hits.into_iter().find(|hit| !self.whole || is_word(hit))
    }

    /// The first hit with the text around it, on one line and with secrets replaced. The searched text itself is shown
    /// as it was asked for.
    pub fn snippet(&self, text: &str, secrets: &KnownSecrets) -> String {
        let text = &secrets.without(text);
        let hit = if self.event.is_some() { Some(0..self.text.len()) } else { self.find(text) };
        let Some(hit) = hit else { return self.flat.clone() };
        let mut start = hit.start.saturating_sub(AROUND);
        let mut end = (hit.end + AROUND).min(text.len());
        while !text.is_char_boundary(start) {
            start += 1;
        }
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        flatten(&text[start..end])
    }
}

/// The line with most of these words, the first of several; at most as long as a snippet. Secrets are replaced.
pub(super) fn line_with(text: &str, words: &[String], secrets: &KnownSecrets) -> String {
    let text = secrets.without(text);
    let score = |line: &&str| {
        let line = line.to_lowercase();
        let count = words.iter().filter(|word| line.contains(word.as_str())).count();
        std::cmp::Reverse(count)
    };
    let line = flatten(text.lines().min_by_key(score).unwrap_or_default());
    line.chars().take(2 * AROUND).collect()
}

/// Whether a word may begin or end at `at`, so that it does not lie between two characters of one word.
fn is_edge(text: &str, at: usize) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].chars().next_back().is_some_and(word);
    let after = text[at..].chars().next().is_some_and(word);
    !(before && after)
}

fn flatten(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
