//! The lines of a result, as a reader sees them.

use std::borrow::Cow;

use crate::salient::shorten;

/// How many bytes at the start of a result are read.
const HEAD: usize = 2_048;
/// How many bytes at the end of a result are read.
const TAIL: usize = 4_096;

/// Longest quotation of the line that says most, in characters.
const LONGEST: usize = 160;

/// At most this many bytes of a line are read.
const LINE: usize = 320;

/// Tags in which harnesses wrap a result or a part of it.
const WRAPPERS: [&str; 18] = [
    "returncode",
    "output",
    "tool_use_error",
    "error",
    "stdout",
    "stderr",
    "result",
    "system",
    "bash-stdout",
    "bash-stderr",
    "tool_result",
    "tool_output",
    "exit_code",
    "warning",
    "bash_metadata",
    "shell_metadata",
    "output_head",
    "output_tail",
];

/// The start and the end of a result. In a short result, they overlap or are the same.
pub(super) struct ResultWindows<'a> {
    /// At most [`HEAD`] bytes from the start.
    pub head: &'a str,
    /// At most [`TAIL`] bytes up to the end.
    pub tail: &'a str,
    /// Byte offset at which the tail starts.
    pub from: usize,
}

impl<'a> ResultWindows<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
        // The first line of the tail may be cut, and half a line may say something else, so it is dropped.
        let from = match text[from..].find('\n') {
            Some(end) if from > 0 => from + end + 1,
            _ => from,
        };
        let head = text.floor_char_boundary(HEAD.min(text.len()));
        Self { head: &text[..head], tail: &text[from..], from }
    }

    /// The windows without their overlap, each with its byte offset in the result.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let head = (self.from > 0).then(|| &self.head[..self.head.len().min(self.from)]);
        head.into_iter().map(|head| (0, head)).chain([(self.from, self.tail)])
    }
}

/// The lines of a window, each cleaned.
pub(super) fn lines(window: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
    // Where nothing is coloured or overwritten, as in most windows, no line need be searched for that.
    let clean = match memchr::memchr2(b'\r', 0x1b, window.as_bytes()) {
        Some(_) => clean,
        None => trimmed,
    };
    window.split('\n').map(clean)
}

/// A line that is not coloured or overwritten, without wrapping tags and blanks at both ends.
fn trimmed(line: &str) -> Cow<'_, str> {
    Cow::Borrowed(unwrap(clip(line.trim_end()).trim()))
}

/// A line as a terminal shows it, without colours, overwritten text, wrapping tags and blanks at both ends.
pub(super) fn clean(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    let line = clip(line.rsplit('\r').next().unwrap_or(line));
    if line.contains('\u{1b}') {
        return Cow::Owned(unwrap(without_colours(line).trim()).to_owned());
    }
    Cow::Borrowed(unwrap(line.trim()))
}

/// At most [`LINE`] bytes of a line.
pub(super) fn clip(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE)]
}

fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.next() == Some('[') {
            // A control sequence ends with a letter or another character from `@` to `~`.
            let _ = chars.find(|c| ('@'..='~').contains(c));
        }
    }
    out
}

/// Removes [`WRAPPERS`] at both ends of a line. A line that holds only an exit code becomes empty.
fn unwrap(mut line: &str) -> &str {
    if !line.starts_with('<') && !line.ends_with('>') {
        return line;
    }
    if line.starts_with("<returncode>") || line.starts_with("<exit_code>") {
        return "";
    }
    for name in WRAPPERS {
        let open = line.strip_prefix('<').and_then(|rest| rest.strip_prefix(name));
        line = open.and_then(|rest| rest.strip_prefix('>')).unwrap_or(line);
        let close = line.strip_suffix('>').and_then(|rest| rest.strip_suffix(name));
        line = close.and_then(|rest| rest.strip_suffix("</")).unwrap_or(line);
    }
    line.trim()
}

/// The bytes of which rules are drawn.
const DRAWN: [bool; 256] = {
    let mut drawn = [false; 256];
    let marks = b"=-_*#~.+^|";
    let mut at = 0;
    while at < marks.len() {
        drawn[marks[at] as usize] = true;
        at += 1;
    }
    drawn
};

/// Whether a line says something. A drawn rule does not: `=====`, or `--- x ---` with more drawing than words.
pub(super) fn says(line: &str) -> bool {
    let drawn = line.bytes().filter(|b| DRAWN[usize::from(*b)]).count();
    drawn * 2 < line.len() && line.chars().any(char::is_alphanumeric)
}

/// A line for quotation, without drawing around it, as in `=== 1 failed ===`.
pub(super) fn telling(line: &str) -> String {
    let drawn = line.starts_with("==") && line.ends_with("==");
    shorten(if drawn { line.trim_matches(['=', ' ']) } else { line }, LONGEST - 1)
}

/// The number of lines in a text.
pub(super) fn count(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The exception of a Python traceback that starts at byte `start`: the first line below it that is not indented and
/// begins with a name. Lines that the program printed may be between. `None` where no traceback starts there.
pub(super) fn raised(window: &str, start: usize) -> Option<&str> {
    let line = window[start..].split('\n').next().unwrap_or_default();
    if !line.trim_start().starts_with("Traceback (most recent call last)") {
        return None;
    }
    let margin = line.len() - line.trim_start().len();
    let below = window[start..].split('\n').skip(1);
    let mut below = below.filter(|line| !line.trim().is_empty());
    below.find(|line| {
        let name = line.trim().split(':').next().unwrap_or_default();
        line.len() - line.trim_start().len() <= margin
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    })
}
