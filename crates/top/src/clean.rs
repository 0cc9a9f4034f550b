//! Texts that may be written to a terminal: whatever a transcript contains, they move no cursor and reverse no line.

use std::fmt::{Display, Formatter, Result};

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
        let flat: String = printable(text).take(LINE * 4).collect();
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
        Self(printable(text).collect())
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

/// The characters that are shown. An escape sequence, which sets colours or moves the cursor, is left out as a whole,
/// because its letters alone would be noise.
fn printable(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            match rest.next()? {
                start @ ('\x1b' | '\u{9b}') => {
                    if start == '\u{9b}' || rest.next_if_eq(&'[').is_some() {
                        while rest.next_if(|c| matches!(c, '0'..='9' | ';' | '?')).is_some() {}
                        rest.next_if(char::is_ascii_alphabetic);
                    }
                }
                '\n' | '\u{2028}' | '\u{2029}' => return Some('\n'),
                '\t' => return Some(' '),
                c if c.is_control() || is_hidden(c) => {}
                c => return Some(c),
            }
        }
    })
}

/// Whether a character is invisible or changes the direction of text. With it, the screen would not show the text as it
/// was written.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
