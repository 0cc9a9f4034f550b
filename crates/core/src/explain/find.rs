//! The search for a text: as whole words first, inside words where the log has it nowhere as a word.

use memchr::memmem::Finder;

use crate::log::{Event, EventLog};
use crate::redact::KnownSecrets;

/// Bytes of context that a snippet shows on each side of a hit.
const AROUND: usize = 60;

/// The text that is searched.
pub(super) struct SearchText {
    text: String,
    finder: Finder<'static>,
    whole: bool,
    /// The text with single spaces, since recaps quote on one line.
    flat: String,
    /// The message that the question names by number; it counts as a hit whatever it says.
    event: Option<u32>,
}

impl SearchText {
    /// Searches whole words if the log has the text as such. `@12` is the message with that number.
    pub fn new(log: &EventLog, text: &str) -> Self {
        let finder = Finder::new(text).into_owned();
        let flat = flatten(text);
        let number = text.strip_prefix('@').and_then(|number| number.parse::<u32>().ok());
        let event = number.filter(|number| (*number as usize) < log.len());
        let mut new = Self { text: text.to_owned(), finder, whole: true, flat, event };
        new.whole = event.is_some() || log.events().iter().any(|event| new.is_in(&event.text()));
        new
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

    /// The first hit, as a position in bytes.
    fn find(&self, text: &str) -> Option<usize> {
        let end = |at: usize| at + self.text.len();
        self.finder
            .find_iter(text.as_bytes())
            .find(|at| !self.whole || (is_edge(text, *at) && is_edge(text, end(*at))))
    }

    /// The first hit with the text around it, on one line and with secrets replaced. The searched text itself is shown
    /// as it was asked for.
    pub fn snippet(&self, text: &str, secrets: &KnownSecrets) -> String {
        let text = &secrets.without(text);
        let at = if self.event.is_some() { Some(0) } else { self.find(text) };
        let Some(at) = at else { return self.flat.clone() };
        let mut start = at.saturating_sub(AROUND);
        let mut end = (at + self.text.len() + AROUND).min(text.len());
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
