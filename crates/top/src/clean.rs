//! Texts that may be written to a terminal: whatever a transcript contains, they move no cursor and reverse no line.

use std::fmt::{Display, Formatter, Result};

use midfold::core::hidden::is_hidden_at;
use midfold::core::screen::without_escapes;
use serde::{Deserialize, Deserializer};

/// The most characters of one line that are kept, which is more than any screen shows.
const LINE: usize = 4_000;

/// A text on one line, safe for the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clean(String);

/// A text of several lines, safe for the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanText(String);

impl Clean {
    /// Cleans a text: line breaks and tabs become spaces, and characters that cannot be printed are left out.
    #[must_use]
    pub fn new(text: &str) -> Self {
        // A text may be long, and most of it is never shown.
        let flat = printable(&text[..text.floor_char_boundary(LINE * 16)]);
        let words = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        Self(words.chars().take(LINE).collect())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CleanText {
    /// Cleans a text: line breaks stay, tabs become spaces, and characters that cannot be printed are left out.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(printable(text))
    }

    /// Its lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.lines()
    }
}

impl Display for Clean {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Clean {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

impl<'de> Deserialize<'de> for CleanText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

/// The characters that are shown. An escape sequence is left out as a whole, because its letters alone would be noise.
fn printable(text: &str) -> String {
    let text = without_escapes(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\t' => out.push(' '),
            c if c.is_control() => {}
            // With hidden characters, the screen would not show the text as it was written.
            c if is_hidden_at(out.chars().next_back(), c, chars.peek().copied()) => {}
            c => out.push(c),
        }
    }
    out
}
