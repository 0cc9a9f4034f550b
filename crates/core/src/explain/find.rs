//! Finding a text: whole words first, parts of words where there are none.

use memchr::memmem::Finder;

use crate::log::{Event, EventLog};
use crate::redact::KnownSecrets;

/// Characters around a hit that a snippet shows, on each side.
const AROUND: usize = 60;

/// What is looked for.
pub(super) struct SearchText {
    text: String,
    finder: Finder<'static>,
    whole: bool,
    /// With single spaces, for recaps, which quote on one line.
    flat: String,
    /// The message that is asked about, whatever it says.
    event: Option<u32>,
}

impl SearchText {
    /// Looks for whole words where the log holds the text as such; `@12` is the message.
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

    /// Whether a form of an event, which may be shortened, still has it.
    pub fn is_in(&self, text: &str) -> bool {
        self.event.is_some() || self.find(text).is_some()
    }

    pub fn is_in_recap(&self, recap: &str) -> bool {
        self.find(recap).is_some()
            || (self.flat != self.text && flatten(recap).contains(&self.flat))
    }

    fn find(&self, text: &str) -> Option<usize> {
        let end = |at: usize| at + self.text.len();
        self.finder
            .find_iter(text.as_bytes())
            .find(|at| !self.whole || (is_edge(text, *at) && is_edge(text, end(*at))))
    }

    /// The first hit with what is around it, on one line and without secrets; a secret itself is
    /// only said again to whoever asks for it by its text.
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

/// Whether a word may start or end at `at`: not between two characters of one word.
fn is_edge(text: &str, at: usize) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].chars().next_back().is_some_and(word);
    let after = text[at..].chars().next().is_some_and(word);
    !(before && after)
}

fn flatten(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
