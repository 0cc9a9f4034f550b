//! Finds the member of an object that holds the value beside a name: `{"name": "password", "value": "…"}`. Objects and
//! strings inside the object belong to it, so their brackets do not end it.

use super::cursor::TextCursor;
use super::forms::{FormCertainty, FormValue};
use super::value::ValueRuns;

/// The most bytes of an object that are searched for its value.
const OBJECT_BYTES: usize = 600;

/// The names of the member with the value, best first.
const NAMES: [&str; 13] = [
    "value",
    "Value",
    "VALUE",
    "val",
    "default",
    "S",
    "plaintext",
    "content",
    "text",
    "string",
    "_",
    "$t",
    "#text",
];

impl TextCursor<'_> {
    /// The value of such a member. The cursor is at the start of an object, or inside one.
    pub(super) fn member(self, runs: &mut ValueRuns) -> Option<FormValue> {
        // In a text that is no JSON, a quotation mark may open no string.
        let start = self.member_start(true).or_else(|| self.member_start(false))?;
        let mut cursor = TextCursor { text: self.text, at: start };
        cursor.prefix();
        match cursor.quoted(FormCertainty::Assigned, runs) {
            None if !matches!(cursor.byte(), Some(b'"' | b'\'' | b'{')) => {
                cursor.bare(FormCertainty::Assigned, cursor.ends_line(), runs)
            }
            value => value,
        }
    }

    /// The value of an object that has its value before its name: `{"value": "…", "name": "password"}`.
    pub(super) fn member_before(mut self, name: usize, runs: &mut ValueRuns) -> Option<FormValue> {
        self.blank();
        let front = self.text[..name].trim_end_matches(['"', '\'', '\\', ' ']);
        if !front.ends_with([':', '=']) || !matches!(self.byte(), Some(b'}' | b',' | b'\n')) {
            return None;
        }
        let open = object_start(self.text.as_bytes(), front.len())?;
        let value = TextCursor { text: self.text, at: open }.member(runs)?;
        (value.at.end < name).then_some(value)
    }

    /// The start of the value of the best member: one of the object itself before one of an object inside it.
    fn member_start(&self, has_strings: bool) -> Option<usize> {
        let bytes = &self.text.as_bytes()[..self.text.len().min(self.at + OBJECT_BYTES)];
        let own_depth = i32::from(bytes.get(self.at) == Some(&b'{'));
        let (mut at, mut depth) = (self.at, 0);
        let mut best: Option<((i32, usize), usize)> = None;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' | b'\'' if has_strings => at = string_end(bytes, at).unwrap_or(at),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth < own_depth {
                        break;
                    }
                }
                b':' | b'=' => {
                    let start = self.value_start(at);
                    let is_object = matches!(bytes.get(start), Some(b'{' | b'['));
                    if let Some(rank) = self.name_rank(at).filter(|_| !is_object)
                        && best.is_none_or(|(known, _)| (depth, rank) < known)
                    {
                        best = Some(((depth, rank), start));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        best.map(|(_, start)| start)
    }

    /// The start of the value behind the separator at this byte.
    fn value_start(&self, separator: usize) -> usize {
        let mut cursor = TextCursor { text: self.text, at: separator };
        cursor.eat_one([":", "=>", "="]);
        cursor.blank();
        cursor.at
    }

    /// Which of [`NAMES`] is before the separator at this byte.
    fn name_rank(&self, separator: usize) -> Option<usize> {
        let front = self.text[self.at..separator].trim_end_matches([' ', '\t']);
        let open = front.strip_suffix(['"', '\'', '`']);
        let (front, has_quote) = open.map_or((front, false), |front| (front, true));
        let front = if has_quote { front.trim_end_matches('\\') } else { front };
        NAMES.iter().position(|name| {
            front.strip_suffix(name).is_some_and(|before| {
                let is_apart = before.is_empty()
                    || before.ends_with(|c: char| c.is_whitespace() || "\"'{,;`-".contains(c))
                    // Matches `ParameterValue`, too.
                    || *name == "Value" && before.ends_with(|c: char| c.is_ascii_lowercase());
                is_apart && (has_quote || name.len() > 2)
            })
        })
    }
}

/// The position of the `{` of the object that `end` is in.
fn object_start(bytes: &[u8], end: usize) -> Option<usize> {
    let from = end.saturating_sub(OBJECT_BYTES);
    let (mut at, mut depth) = (end, 0);
    while at > from {
        at -= 1;
        match bytes[at] {
            b'"' | b'\'' => at = string_start(bytes, at, from).unwrap_or(at),
            b'}' | b']' => depth += 1,
            b'{' if depth == 0 => return Some(at),
            b'[' if depth == 0 => return None,
            b'{' | b'[' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The closing quote of the string that opens at this byte; `None` where none does. A string inside a string of JSON
/// has a backslash before both of its quotes.
fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    if bytes[open] == b'\'' && bytes[..open].last().is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let level = backslashes(bytes, open);
    let line = bytes[open + 1..].iter().take_while(|byte| **byte != b'\n');
    let mut quotes = line.zip(open + 1..).filter(|(byte, _)| **byte == bytes[open]);
    quotes.find_map(|(_, at)| {
        let count = backslashes(&bytes[open + 1..], at - open - 1);
        (if level == 0 { count.is_multiple_of(2) } else { count <= level }).then_some(at)
    })
}

/// The opening quote of the string that closes at this byte.
fn string_start(bytes: &[u8], close: usize, from: usize) -> Option<usize> {
    if bytes[close] == b'\'' && bytes.get(close + 1).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let count = backslashes(bytes, close);
    let level = if count.is_multiple_of(2) { 0 } else { count };
    let line = (from..close).rev().take_while(|at| bytes[*at] != b'\n');
    line.filter(|at| bytes[*at] == bytes[close]).find(|at| backslashes(bytes, *at) == level)
}

/// The number of backslashes before a byte, at most 8.
fn backslashes(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rev().take(8).take_while(|byte| **byte == b'\\').count()
}
