//! Splits bytes into JSON values: one value, one per line, or one after the other.
//!
//! The input is checked here, once. An input that is nearly JSON (invalid UTF-8, raw control characters in strings,
//! `NaN`) keeps its structure, so that positions in the original stay right: [`repair`] then repairs each affected
//! message.

use std::ops::Range;

use memchr::memchr;
use serde::de::IgnoredAny;

use super::ReadError;
use super::outline::{self, ValueOutline};
use crate::problem::ReadProblem;
use crate::scan;

/// The most bytes of an input: views keep positions as `u32`.
const LIMIT: usize = u32::MAX as usize;

/// A JSON value at the top of the input.
#[derive(Clone, Debug)]
pub(super) struct TopValue {
    pub range: Range<usize>,
    /// The line where it starts, from 1.
    pub line: usize,
}

/// The input, divided into its values.
#[derive(Debug)]
pub(super) struct InputText {
    pub records: Vec<TopValue>,
    /// Whether some part has to be repaired before it is used.
    pub dirty: bool,
    pub problems: Vec<ReadProblem>,
    /// The outline of an input that is one valid value.
    pub outline: Option<ValueOutline>,
}

/// Takes a text that is no JSON as one value.
pub(super) fn whole(bytes: &[u8]) -> Result<InputText, ReadError> {
    if bytes.len() > LIMIT {
        return Err(ReadError::TooLarge { bytes: bytes.len(), limit: LIMIT });
    }
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut problems = Vec::new();
    if let Err(error) = std::str::from_utf8(bytes) {
        let detail = format!("byte {} belongs to no UTF-8 text: replaced", error.valid_up_to());
        problems.push(ReadProblem::new("repaired", detail).at(1));
    }
    let records = vec![TopValue { range: 0..bytes.len(), line: 1 }];
    Ok(InputText { records, dirty: false, problems, outline: None })
}

/// Splits an input into its values: one value with an outline, one value per line, or values one after the other.
pub(super) fn split(bytes: &[u8]) -> Result<InputText, ReadError> {
    if bytes.len() > LIMIT {
        return Err(ReadError::TooLarge { bytes: bytes.len(), limit: LIMIT });
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(ReadError::Archive);
    }
    let utf8 = std::str::from_utf8(bytes);
    let mut text = InputText {
        records: Vec::new(),
        dirty: utf8.is_err(),
        problems: Vec::new(),
        outline: None,
    };
    let mut start = 0;
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        text.problems.push(ReadProblem::new("byte-order-mark", "left out at the start").at(1));
        start = 3;
    }
    start = scan::skip_space(bytes, start);
    if start == bytes.len() {
        return Err(ReadError::Empty);
    }
    let first_line = 1 + scan::count_lines(&bytes[..start]);

    // Nearly every input is one object or list: one pass checks it and finds its messages.
    if let Some(outline) = utf8.ok().and_then(|utf8| outline::of(utf8, start)) {
        text.records.push(TopValue { range: outline.range.clone(), line: first_line });
        text.outline = Some(outline);
        return Ok(text);
    }
    let mut stream = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter();
    match stream.next() {
        Some(Ok(IgnoredAny)) => {
            let end = start + stream.byte_offset();
            text.records.push(TopValue { range: start..end, line: first_line });
            if scan::skip_space(bytes, end) == bytes.len() {
                return Ok(text);
            }
            text.records.clear();
            // A first value that fills one line promises one value a line: a bad line is then lost alone. A stream ends
            // at its first defect.
            if is_line_end(bytes, end) && memchr(b'\n', &bytes[start..end]).is_none() {
                split_lines(bytes, start, first_line, &mut text);
            } else {
                split_stream(bytes, start, first_line, &mut text);
            }
            Ok(text)
        }
        Some(Err(error)) => split_broken(bytes, start, first_line, text, &error),
        None => Err(ReadError::Empty),
    }
}

/// Whether only blanks are between `at` and the end of the line.
fn is_line_end(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    let blank = rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    blank.is_none_or(|n| rest[n] == b'\n')
}

/// Handles a first value that is no JSON. It may be repaired, or be one bad line among good ones.
fn split_broken(
    bytes: &[u8],
    start: usize,
    line: usize,
    mut text: InputText,
    error: &serde_json::Error,
) -> Result<InputText, ReadError> {
    if let Some(end) = repaired_value(bytes, start..bytes.len()) {
        text.dirty = true;
        text.records.push(TopValue { range: start..end, line });
        return Ok(text);
    }
    if looks_like_lines(&bytes[start..]) {
        split_lines(bytes, start, line, &mut text);
        if !text.records.is_empty() {
            return Ok(text);
        }
    }
    // A file that starts like JSON was meant as JSON, and its syntax error says more than a stray byte.
    if !matches!(bytes[start], b'{' | b'[')
        && let Some(offset) = not_text(bytes)
    {
        return Err(ReadError::Binary { offset });
    }
    let (line, column) = (line - 1 + error.line(), error.column());
    if error.is_eof() {
        return Err(ReadError::Truncated { line, column });
    }
    Err(ReadError::NotJson { line, column, detail: reason(error) })
}

/// The end of the value in `range`, if a repair makes it valid and nothing follows it.
fn repaired_value(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let repaired = repair(&bytes[range.clone()])?;
    is_json(&repaired.bytes).then_some(())?;
    scan::value(bytes, range.start).map(|value| value.end)
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Whether the first line is meant to be a whole value. An indented document that was cut off may have lines that are
/// JSON too, so any later line does not count.
fn looks_like_lines(bytes: &[u8]) -> bool {
    let Some(end) = memchr(b'\n', bytes) else { return false };
    let first = bytes[..end].trim_ascii_end();
    first.len() > 1
        && first[0] == b'{'
        && !matches!(first.last(), Some(b'{' | b'[' | b','))
        && bytes[end..].trim_ascii_start().first() == Some(&b'{')
}

fn not_text(bytes: &[u8]) -> Option<usize> {
    let invalid = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
    let nul = memchr(0, bytes);
    invalid.into_iter().chain(nul).min()
}

/// The parser's message without its position.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]).to_owned()
}

fn split_lines(bytes: &[u8], start: usize, first_line: usize, text: &mut InputText) {
    let mut at = start;
    let mut line = first_line;
    while at < bytes.len() {
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        take_line(bytes, at..end, line, text);
        at = end + 1;
        line += 1;
    }
}

fn take_line(bytes: &[u8], range: Range<usize>, line: usize, text: &mut InputText) {
    let start = scan::skip_space(&bytes[..range.end], range.start);
    if start == range.end {
        return;
    }
    let end = start + bytes[start..range.end].trim_ascii_end().len();
    match serde_json::from_slice::<IgnoredAny>(&bytes[start..end]) {
        Ok(IgnoredAny) => text.records.push(TopValue { range: start..end, line }),
        Err(_) if repaired_value(&bytes[..end], start..end).is_some() => {
            text.dirty = true;
            text.records.push(TopValue { range: start..end, line });
        }
        Err(error) => {
            let code = if error.is_eof() { "truncated-line" } else { "bad-line" };
            let detail =
                format!("left out, not JSON at column {}: {}", error.column(), reason(&error));
            text.problems.push(ReadProblem::new(code, detail).at(line));
        }
    }
}

/// Splits values that follow each other, wherever the line breaks are.
fn split_stream(bytes: &[u8], start: usize, first_line: usize, text: &mut InputText) {
    let mut stream = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter();
    let (mut at, mut line) = (start, first_line);
    while let Some(next) = stream.next() {
        let from = scan::skip_space(bytes, at);
        line += scan::count_lines(&bytes[at..from]);
        match next {
            Ok(IgnoredAny) => {
                at = start + stream.byte_offset();
                text.records.push(TopValue { range: from..at, line });
                line += scan::count_lines(&bytes[from..at]);
            }
            Err(error) => {
                let detail = format!("left out from here to the end: {}", reason(&error));
                text.problems.push(ReadProblem::new("bad-json", detail).at(line));
                return;
            }
        }
    }
}

/// A repaired value.
#[derive(Debug)]
pub(super) struct RepairedValue {
    pub bytes: Vec<u8>,
    /// The defect, for people.
    pub defect: &'static str,
}

/// Repairs defects that some writers make and JSON forbids: invalid UTF-8 becomes U+FFFD, raw control characters in
/// strings are escaped, `NaN` and infinities become `null`. `None` where there is nothing to repair.
pub(super) fn repair(bytes: &[u8]) -> Option<RepairedValue> {
    let mut out = Vec::new();
    let mut defect = None;
    let (mut at, mut copied, mut in_string) = (0, 0, false);
    while at < bytes.len() {
        let byte = bytes[at];
        let (end, put, why): (usize, &[u8], _) = match byte {
            b'"' => {
                in_string = !in_string;
                at += 1;
                continue;
            }
            // The byte after the backslash is skipped only where it cannot be a defect itself.
            b'\\' if in_string => {
                at +=
                    if bytes.get(at + 1).is_some_and(|b| (0x20..0x80).contains(b)) { 2 } else { 1 };
                continue;
            }
            0..0x20 if in_string => (at + 1, CONTROL[usize::from(byte)], "raw control character"),
            b'N' | b'I' | b'-' if !in_string => {
                let Some(len) = not_a_number(&bytes[at..]) else {
                    at += 1;
                    continue;
                };
                (at + len, b"null", "NaN or infinity")
            }
            0x80.. => match valid_char(&bytes[at..]) {
                Ok(len) => {
                    at += len;
                    continue;
                }
                Err(len) => (at + len, "\u{FFFD}".as_bytes(), "invalid UTF-8"),
            },
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(&bytes[copied..at]);
        out.extend_from_slice(put);
        defect = defect.or(Some(why));
        (at, copied) = (end, end);
    }
    let defect = defect?;
    out.extend_from_slice(&bytes[copied..]);
    Some(RepairedValue { bytes: out, defect })
}

fn not_a_number(bytes: &[u8]) -> Option<usize> {
    let words: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    words.iter().find(|word| bytes.starts_with(word)).map(|word| word.len())
}

/// The length in bytes of the character at the start; `Err` with the length of invalid bytes.
fn valid_char(bytes: &[u8]) -> Result<usize, usize> {
    let head = &bytes[..bytes.len().min(4)];
    match std::str::from_utf8(head) {
        Ok(text) => Ok(text.chars().next().map_or(1, char::len_utf8)),
        // Four bytes hold the first character whole, but may cut the next one.
        Err(error) if error.valid_up_to() > 0 => {
            let valid = std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default();
            Ok(valid.chars().next().map_or(1, char::len_utf8))
        }
        // The length is `None` where the input ends within a character.
        Err(error) => Err(error.error_len().unwrap_or(head.len()).max(1)),
    }
}

/// The JSON escapes of the control characters.
#[rustfmt::skip]
const CONTROL: [&[u8]; 32] = [
    b"\\u0000", b"\\u0001", b"\\u0002", b"\\u0003", b"\\u0004", b"\\u0005", b"\\u0006", b"\\u0007",
    b"\\b", b"\\t", b"\\n", b"\\u000b", b"\\f", b"\\r", b"\\u000e", b"\\u000f",
    b"\\u0010", b"\\u0011", b"\\u0012", b"\\u0013", b"\\u0014", b"\\u0015", b"\\u0016", b"\\u0017",
    b"\\u0018", b"\\u0019", b"\\u001a", b"\\u001b", b"\\u001c", b"\\u001d", b"\\u001e", b"\\u001f",
];
