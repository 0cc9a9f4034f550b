//! What a terminal would obey or hide, as text that is seen: names, messages and results are other people's, and
//! move no cursor, turn no line around and colour nothing.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// What is written here to colour a text, and by the crate that writes logs; what follows the escape.
const COLOURS: [&str; 12] =
    ["[0m", "[1m", "[2m", "[3m", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m", "[23m", "[22m"];

/// The text for a terminal. Line breaks, tabs and our own colours stay; all else that is no text stands there as JSON
/// writes it (`\u001b`), so that JSON is the same JSON.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (at, c) in text.char_indices() {
        let is_ours = || {
            let rest = &text[at + c.len_utf8()..];
            c == '\x1b' && COLOURS.iter().any(|colour| rest.starts_with(colour))
        };
        let is_break = || c == '\r' && text[at..].starts_with("\r\n");
        if !is_unseen(c) || is_ours() || is_break() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // A string takes all that is written to it.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

/// As [`visible`], of what may be no text: then it is shown as far as it is.
#[must_use]
pub fn visible_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => match visible(text) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        Cow::Owned(text) => Cow::Owned(visible(&text).into_owned().into_bytes()),
    }
}

/// Controls of either kind, and what turns text around or takes no room.
fn is_unseen(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// A stream that others write to, line by line: where it is a terminal, it gets what is seen.
pub struct VisibleStream<W: Write> {
    stream: W,
    is_terminal: bool,
    /// A line that has not ended.
    begun: Vec<u8>,
}

impl<W: Write + IsTerminal> VisibleStream<W> {
    pub fn new(stream: W) -> Self {
        let is_terminal = stream.is_terminal();
        Self { stream, is_terminal, begun: Vec::new() }
    }
}

impl<W: Write> Write for VisibleStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.stream.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        if let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.begun.drain(..=end).collect();
            self.stream.write_all(&visible_bytes(&lines))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<W: Write> Drop for VisibleStream<W> {
    fn drop(&mut self) {
        // Nobody can be told when that fails.
        let _ = self.stream.write_all(&visible_bytes(&self.begun));
    }
}
