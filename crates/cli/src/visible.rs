//! Makes characters visible that a terminal would obey or hide. Names, messages and results come from others, who must
//! not move the cursor, reverse text or colour it. Only colours that this process painted pass.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

use midfold::core::hidden::{is_hidden, is_hidden_at, is_joiner};

/// The end of the colour codes of this process: a number that is made anew in each, so that no text from outside has it.
static OWN_END: LazyLock<String> =
    LazyLock::new(|| format!(";{}m", RandomState::new().hash_one(std::process::id())));

/// The colour codes that the crate for logs writes, without the escape before them. It escapes those of others itself.
const LOG_COLOURS: [&str; 12] =
    ["[0m", "[1m", "[2m", "[3m", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m", "[23m", "[22m"];

/// The text in a colour. Its codes are known as ours by [`visible`] and [`with_plain_codes`], which have to write it.
pub fn painted(code: &str, text: &str) -> String {
    let end = &*OWN_END;
    format!("\x1b[{code}{end}{text}\x1b[0{end}")
}

/// A colour code of ours at the start of `text`, behind its escape: the number of the colour, and the bytes of the code.
fn own_code(text: &[u8]) -> Option<(&[u8], usize)> {
    let digits = text.strip_prefix(b"[")?;
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = digits.split_at(count);
    rest.starts_with(OWN_END.as_bytes()).then(|| (number, 1 + count + OWN_END.len()))
}

/// The bytes for a file or a program: as they are, with our colour codes as terminals know them.
#[must_use]
pub fn with_plain_codes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let (mut rest, mut from) = (bytes, 0);
    while let Some(escape) = rest[from..].iter().position(|byte| *byte == 0x1b) {
        let behind = from + escape + 1;
        let Some((number, length)) = own_code(&rest[behind..]) else {
            from = behind;
            continue;
        };
        out.extend_from_slice(&rest[..behind]);
        out.extend([b"[", number, b"m"].concat());
        (rest, from) = (&rest[behind + length..], 0);
    }
    if out.is_empty() {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Who may have coloured a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ColourSource {
    /// Only [`painted`].
    Own,
    /// The crate for logs.
    Logs,
}

/// The text for a terminal. Line breaks, tabs and our own colours stay. Other control characters and hidden ones become
/// JSON escapes (`\u001b`), so that JSON text keeps its meaning.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    visible_by(text, ColourSource::Own)
}

fn visible_by(text: &str, source: ColourSource) -> Cow<'_, str> {
    if !text.chars().any(|c| is_obeyed(c) || is_hidden(c) || is_joiner(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let rest = chars.as_str();
        let next = rest.chars().next();
        if let Some(length) = (c == '\x1b').then(|| push_code(&mut out, rest, source)).flatten() {
            chars = rest[length..].chars();
        } else if !(is_obeyed(c) || is_hidden_at(before, c, next))
            || (c, next) == ('\r', Some('\n'))
        {
            out.push(c);
            before = Some(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string never fails.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

/// Writes the colour code with which `rest` goes on behind an escape, and returns its length. `None` where it is no
/// code of this source.
fn push_code(out: &mut String, rest: &str, source: ColourSource) -> Option<usize> {
    let (code, length) = match source {
        ColourSource::Own => {
            let (number, length) = own_code(rest.as_bytes())?;
            (&rest[..=number.len()], length)
        }
        ColourSource::Logs => {
            let code = LOG_COLOURS.iter().find(|code| rest.starts_with(**code))?;
            (&code[..code.len() - 1], code.len())
        }
    };
    out.extend(["\x1b", code, "m"]);
    Some(length)
}

/// As [`visible`], for bytes that may not be UTF-8. Invalid bytes are shown as replacement characters.
#[must_use]
pub fn visible_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    visible_bytes_by(bytes, ColourSource::Own)
}

fn visible_bytes_by(bytes: &[u8], source: ColourSource) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => match visible_by(text, source) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        Cow::Owned(text) => Cow::Owned(visible_by(&text, source).into_owned().into_bytes()),
    }
}

/// Whether a terminal obeys a character instead of showing it.
fn is_obeyed(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// A stream that other code writes to. If it is a terminal, each complete line is made visible first.
pub struct VisibleStream<W: Write> {
    stream: W,
    is_terminal: bool,
    colours: ColourSource,
    /// The start of a line that has not ended yet.
    begun: Vec<u8>,
}

impl<W: Write + IsTerminal> VisibleStream<W> {
    pub fn new(stream: W, colours: ColourSource) -> Self {
        let is_terminal = stream.is_terminal();
        Self { stream, is_terminal, colours, begun: Vec::new() }
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
            self.stream.write_all(&visible_bytes_by(&lines, self.colours))?;
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
        let _ = self.stream.write_all(&visible_bytes_by(&self.begun, self.colours));
    }
}
