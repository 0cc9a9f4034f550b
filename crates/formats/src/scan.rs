//! A structural scanner over valid JSON: it finds where values start and end, and nothing else.
//!
//! Readers check once that a text is JSON, with `serde_json`. After that, views only need positions. The scanner
//! allocates nothing, does not recurse (a million levels are fine), jumps over strings with `memchr`, and never panics:
//! for bytes that are not JSON it returns `None`.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3_iter};

/// The first position from `at` on that is not JSON white space.
#[must_use]
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The range of the value that starts at or after `at`, without white space around it. `None` where no value starts
/// there or it does not end.
#[must_use]
pub fn value(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let start = skip_space(bytes, at);
    let end = match bytes.get(start)? {
        b'"' => string_end(bytes, start)?,
        b'{' | b'[' => container_end(bytes, start)?,
        b',' | b':' | b']' | b'}' => return None,
        _ => scalar_end(bytes, start),
    };
    Some(start..end)
}

/// The end of the string token that starts with a quote at `start`: after the next quote that follows an even number of
/// backslashes. Only quotes are searched, because tool output has a line break, and so a backslash, every few words.
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let inner = start + 1;
    let mut at = inner;
    loop {
        let hit = at + memchr(b'"', bytes.get(at..)?)?;
        let slashes = bytes[inner..hit].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            return Some(hit + 1);
        }
        at = hit + 1;
    }
}

fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let is_end = |b: &u8| matches!(b, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' | b':');
    bytes[start..].iter().position(is_end).map_or(bytes.len(), |n| start + n)
}

/// The end of the object or array at `start`. In valid JSON the brackets of each kind are balanced, so only those of
/// the opening kind are counted.
fn container_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (open, close) = if bytes[start] == b'{' { (b'{', b'}') } else { (b'[', b']') };
    let mut depth = 1usize;
    let mut at = start + 1;
    'strings: loop {
        for hit in memchr3_iter(b'"', open, close, bytes.get(at..)?) {
            let hit = at + hit;
            match bytes[hit] {
                b'"' => {
                    at = string_end(bytes, hit)?;
                    continue 'strings;
                }
                byte if byte == open => depth += 1,
                _ => depth -= 1,
            }
            if depth == 0 {
                return Some(hit + 1);
            }
        }
        return None;
    }
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The range of the key token with its quotes.
    pub key: Range<usize>,
    /// The range of the value.
    pub value: Range<usize>,
}

impl Member {
    /// The range of key and value together.
    #[must_use]
    pub fn whole(&self) -> Range<usize> {
        self.key.start..self.value.end
    }

    /// Whether the decoded key is `name`.
    #[must_use]
    pub fn is(&self, bytes: &[u8], name: &str) -> bool {
        let inner = &bytes[self.key.start + 1..self.key.end - 1];
        inner == name.as_bytes()
            || (inner.contains(&b'\\') && midfold_core::jsonstr::decode(inner) == name)
    }
}

/// The members of the object in `range`, in order and with duplicates. Empty where it is no object.
pub fn members(bytes: &[u8], range: Range<usize>) -> Members<'_> {
    let start = skip_space(bytes, range.start);
    let at = if bytes.get(start) == Some(&b'{') { start + 1 } else { range.end };
    Members { bytes, at, end: range.end.min(bytes.len()) }
}

/// The iterator of [`members`].
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Members<'_> {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let at = skip_separator(self.bytes, self.at);
        if at >= self.end || self.bytes[at] != b'"' {
            self.at = self.end;
            return None;
        }
        let key = at..string_end(self.bytes, at)?;
        let colon = skip_space(self.bytes, key.end);
        let value = value(self.bytes, colon + 1)?;
        self.at = value.end;
        Some(Member { key, value })
    }
}

/// The elements of the array in `range`, in order. Empty where it is no array.
pub fn elements(bytes: &[u8], range: Range<usize>) -> Elements<'_> {
    let start = skip_space(bytes, range.start);
    let at = if bytes.get(start) == Some(&b'[') { start + 1 } else { range.end };
    Elements { bytes, at, end: range.end.min(bytes.len()) }
}

/// The elements of the array at `start`, and the array's end, found in one scan. `element` returns the range of the
/// element at a position, or `None` to stop the scan.
pub(crate) fn list(
    bytes: &[u8],
    start: usize,
    mut element: impl FnMut(usize) -> Option<Range<usize>>,
) -> Option<(Vec<Range<usize>>, usize)> {
    let mut out = Vec::new();
    let mut at = start + 1;
    loop {
        at = skip_separator(bytes, at);
        if bytes.get(at) == Some(&b']') {
            return Some((out, at + 1));
        }
        let range = element(at)?;
        at = range.end;
        out.push(range);
    }
}

/// The number of parts of a text: lists, objects, texts, numbers and names. It is an upper bound for the values that a
/// reader can make of the text, even where commas are missing.
pub(crate) fn parts(bytes: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let is_part = !matches!(byte, b',' | b':' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
        count += usize::from(is_part);
        at = match byte {
            b'"' => string_end(bytes, at).unwrap_or(bytes.len()),
            b'{' | b'[' => at + 1,
            _ if is_part => scalar_end(bytes, at),
            _ => at + 1,
        };
    }
    count
}

/// The iterator of [`elements`].
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Elements<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let at = skip_separator(self.bytes, self.at);
        if at >= self.end || self.bytes[at] == b']' {
            self.at = self.end;
            return None;
        }
        let range = value(self.bytes, at)?;
        self.at = range.end;
        Some(range)
    }
}

/// The inside of a JSON string token, still escaped. Other bytes are returned as they are.
pub(crate) fn inside(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => token,
    }
}

pub(crate) fn skip_separator(bytes: &[u8], at: usize) -> usize {
    let at = skip_space(bytes, at);
    if bytes.get(at) == Some(&b',') { skip_space(bytes, at + 1) } else { at }
}

/// The range of the value of member `name`. Where the key is there twice, the last one counts.
#[must_use]
pub fn get(bytes: &[u8], object: Range<usize>, name: &str) -> Option<Range<usize>> {
    members(bytes, object).filter(|m| m.is(bytes, name)).last().map(|m| m.value)
}

/// A value that is written over several lines, without the space between its tokens. Any other value is returned as it
/// is.
///
/// A client writes its files over several lines for people, and sends the same value on one line.
///
/// ```
/// use midfold_formats::scan::one_line;
///
/// assert_eq!(&*one_line(b"{\n  \"a b\": 1\n}"), br#"{"a b":1}"#);
/// assert_eq!(&*one_line(br#"{"a b": 1}"#), br#"{"a b": 1}"#);
/// ```
#[must_use]
pub fn one_line(value: &[u8]) -> Cow<'_, [u8]> {
    // A JSON string holds no raw line break, so a line break shows that the value is written over several lines.
    if memchr::memchr2(b'\n', b'\r', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut out = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(byte) = value.get(at) {
        let end = match byte {
            b'"' => string_end(value, at).unwrap_or(value.len()),
            _ => at + 1,
        };
        if !byte.is_ascii_whitespace() {
            out.extend_from_slice(&value[at..end]);
        }
        at = end;
    }
    Cow::Owned(out)
}

/// The number of line breaks in `bytes`.
#[must_use]
pub fn count_lines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_members_and_elements() {
        let text = br#" {"a" : [1, {"b":"]}"}, "x\"y"] , "a":2,"\u0062":null} "#;
        let all: Vec<_> = members(text, 0..text.len()).collect();
        assert_eq!(all.len(), 3);
        assert_eq!(&text[get(text, 0..text.len(), "a").unwrap()], b"2");
        assert!(all[2].is(text, "b"));
        let parts: Vec<_> = elements(text, all[0].value.clone()).map(|r| &text[r]).collect();
        assert_eq!(parts, [&b"1"[..], br#"{"b":"]}"}"#, br#""x\"y""#]);
    }

    #[test]
    fn deep_nesting_does_not_recurse() {
        let deep = [vec![b'['; 1_000_000], vec![b']'; 1_000_000]].concat();
        assert_eq!(value(&deep, 0), Some(0..2_000_000));
    }

    #[test]
    fn broken_json_ends_quietly() {
        for text in [&b"{\"a"[..], b"[1,", b"{\"a\":", b"", b"{,}", b"]"] {
            let _ = members(text, 0..text.len()).count();
            let _ = elements(text, 0..text.len()).count();
            let _ = value(text, 0);
        }
    }
}
