//! A cursor that reads nested values while it scans a message, so that a message is scanned once.
//!
//! [`scan::members`] first has to find the end of a value before its inside can be read. For text in the parts of a
//! result that would be three scans.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::ByteRange;

use crate::scan::{self, inside};

/// A position in an event's bytes.
pub(crate) struct EventWalk<'a> {
    pub(crate) bytes: &'a [u8],
    /// The next byte to read.
    at: usize,
    /// Whether the bytes turned out not to be JSON. All that was read before is then void.
    pub(crate) broken: bool,
}

/// The key of a member that is being visited.
pub(crate) struct MemberKey<'a> {
    /// Where the key token starts; the member's outer range starts there too.
    pub(crate) start: usize,
    name: Cow<'a, str>,
}

impl MemberKey<'_> {
    /// The decoded key.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The range of key and value together.
    pub(crate) fn member(&self, value: &Range<usize>) -> ByteRange {
        ByteRange::new(self.start, value.end)
    }
}

impl<'a> EventWalk<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, broken: false }
    }

    /// The next byte that is not white space; `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.at = scan::skip_space(self.bytes, self.at);
        self.bytes.get(self.at).copied()
    }

    /// Skips the next value and returns its range.
    pub(crate) fn value(&mut self) -> Range<usize> {
        match scan::value(self.bytes, self.at) {
            Some(range) => {
                self.at = range.end;
                range
            }
            None => self.fail(self.at),
        }
    }

    /// Skips the next value. Returns its range where it is a string.
    pub(crate) fn string(&mut self) -> Option<ByteRange> {
        let is_string = self.peek() == Some(b'"');
        let value = self.value();
        is_string.then(|| to_range(&value))
    }

    /// Visits the members of a whole message. Bytes that are no object are no message, and set `broken`.
    pub(crate) fn message(&mut self, visit: impl FnMut(&mut Self, &MemberKey<'a>)) -> Range<usize> {
        self.broken = self.peek() != Some(b'{');
        self.object(visit)
    }

    /// Visits the members of the next value, if it is an object. A value that `visit` does not consume is skipped.
    pub(crate) fn object(
        &mut self,
        mut visit: impl FnMut(&mut Self, &MemberKey<'a>),
    ) -> Range<usize> {
        if self.peek() != Some(b'{') {
            return self.value();
        }
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return start..self.at;
                }
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    let token = self.value();
                    if self.peek() != Some(b':') {
                        return self.fail(start);
                    }
                    self.at = scan::skip_space(self.bytes, self.at + 1);
                    let before = self.at;
                    visit(self, &key(self.bytes, &token));
                    if self.at == before {
                        self.value();
                    }
                }
                _ => return self.fail(start),
            }
        }
    }

    /// Visits the elements of the next value, if it is an array.
    pub(crate) fn array(&mut self, mut visit: impl FnMut(&mut Self)) -> Range<usize> {
        if self.peek() != Some(b'[') {
            return self.value();
        }
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return start..self.at;
                }
                Some(b',') => self.at += 1,
                Some(b'}' | b':') | None => return self.fail(start),
                Some(_) => {
                    let before = self.at;
                    visit(self);
                    if self.at == before {
                        self.value();
                    }
                }
            }
        }
    }

    fn fail(&mut self, start: usize) -> Range<usize> {
        self.broken = true;
        // At the end of the bytes, every loop around this value stops too.
        self.at = self.bytes.len();
        start.min(self.at)..self.at
    }
}

fn key<'a>(bytes: &'a [u8], token: &Range<usize>) -> MemberKey<'a> {
    let name = midfold_core::jsonstr::decode(bytes.get(token.clone()).unwrap_or_default());
    MemberKey { start: token.start, name }
}

/// Converts a range of the scanner to one of a view.
pub(crate) fn to_range(range: &Range<usize>) -> ByteRange {
    ByteRange::new(range.start, range.end)
}

/// The range of a string token, if the string is not empty.
pub(crate) fn filled(bytes: &[u8], token: Option<ByteRange>) -> Option<ByteRange> {
    token.filter(|range| !inside(range.of(bytes)).is_empty())
}
