//! Makes characters visible that a terminal would obey or hide. Names, messages and results come from others, who must
//! not move the cursor, reverse text or colour it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// The colour codes that midfold and the crate for logs write, without the escape before them.
const COLOURS: [&str; 12] =
    ["[0m", "[1m", "[2m", "[3m", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m", "[23m", "[22m"];

/// The text for a terminal. Line breaks, tabs and our own colours stay. Other control characters and invisible ones
/// become JSON escapes (`\u001b`), so that JSON text keeps its meaning.
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
            // Writing to a string never fails.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

/// As [`visible`], for bytes that may not be UTF-8. Invalid bytes are shown as replacement characters.
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

/// Whether a character is a control character, changes the direction of text, or is invisible.
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

/// A stream that other code writes to. If it is a terminal, each complete line is made visible first.
pub struct VisibleStream<W: Write> {
    stream: W,
    is_terminal: bool,
    /// The start of a line that has not ended yet.
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
        // A failure is ignored: there is nowhere to report it.
        let _ = self.stream.write_all(&visible_bytes(&self.begun));
    }
}
