//! Lines of a result, as a reader would see them.

use std::borrow::Cow;

use crate::salient::shorten;

/// Bytes at the start and at the end of a result that are looked at.
const HEAD: usize = 2_048;
const TAIL: usize = 4_096;

/// Characters of the line that says most.
const LONGEST: usize = 160;

/// Longest part of a line that is looked at, in bytes.
const LINE: usize = 320;

/// What harnesses wrap a result or a part of it in.
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

/// The start and the end of a result. A short result is all tail, and its head is the same.
pub(super) struct ResultWindows<'a> {
    pub head: &'a str,
    pub tail: &'a str,
    /// Where the tail starts.
    pub from: usize,
}

impl<'a> ResultWindows<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
        // A line that is cut says something else than it did.
        let from = match text[from..].find('\n') {
            Some(end) if from > 0 => from + end + 1,
            _ => from,
        };
        let head = text.floor_char_boundary(HEAD.min(text.len()));
        Self { head: &text[..head], tail: &text[from..], from }
    }

    /// The windows that do not overlap, each with its place.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let head = (self.from > 0).then(|| &self.head[..self.head.len().min(self.from)]);
        head.into_iter().map(|head| (0, head)).chain([(self.from, self.tail)])
    }
}

/// The cleaned lines of a window.
pub(super) fn lines(window: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
    window.split('\n').map(clean)
}

/// A line without colours, wrappers, blanks at both ends, and what was overwritten.
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
            // A control sequence ends with a letter.
            let _ = chars.find(|c| ('@'..='~').contains(c));
        }
    }
    out
}

fn unwrap(mut line: &str) -> &str {
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

/// Whether a line has words and is no rule: `=====`, `--- x ---` with more drawn than said.
pub(super) fn says(line: &str) -> bool {
    let drawn = line.bytes().filter(|b| b"=-_*#~.+^|".contains(b)).count();
    line.chars().any(char::is_alphanumeric) && drawn * 2 < line.len()
}

/// A line as it is told, without what is drawn around it: `=== 1 failed ===`.
pub(super) fn telling(line: &str) -> String {
    let drawn = line.starts_with("==") && line.ends_with("==");
    shorten(if drawn { line.trim_matches(['=', ' ']) } else { line }, LONGEST - 1)
}

/// Lines of a text.
pub(super) fn count(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The exception below a Python traceback that starts here: the first line that is not indented
/// and begins with a name. What the program printed itself may be between.
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
