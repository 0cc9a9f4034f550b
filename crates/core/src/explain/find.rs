//! Finding a text: whole words first, parts of words where there are none.

use memchr::memmem::Finder;

use crate::log::Log;

/// Characters around a hit that a snippet shows, on each side.
const AROUND: usize = 60;

/// What is looked for.
pub(super) struct Needle {
    text: String,
    finder: Finder<'static>,
    whole: bool,
    /// With single spaces, for recaps, which quote on one line.
    flat: String,
}

impl Needle {
    /// Looks for whole words where the log holds the text as such.
    pub fn new(log: &Log, text: &str) -> Self {
        let finder = Finder::new(text).into_owned();
        let flat = flatten(text);
        let mut new = Self { text: text.to_owned(), finder, whole: true, flat };
        new.whole = log.events().iter().any(|event| new.is_in(&event.text()));
        new
    }

    pub fn is_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    pub fn is_in_recap(&self, recap: &str) -> bool {
        self.is_in(recap) || (self.flat != self.text && flatten(recap).contains(&self.flat))
    }

    fn find(&self, text: &str) -> Option<usize> {
        let end = |at: usize| at + self.text.len();
        self.finder
            .find_iter(text.as_bytes())
            .find(|at| !self.whole || (is_edge(text, *at) && is_edge(text, end(*at))))
    }

    /// The first hit with what stands around it, on one line.
    pub fn snippet(&self, text: &str) -> String {
        let Some(at) = self.find(text) else { return String::new() };
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
