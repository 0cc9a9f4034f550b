//! Takes slices of the input as events, and repairs them where necessary.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::chat::{self, ContentPart};
use super::text;
use crate::problem::ReadProblem;
use crate::scan;

/// Counts what a reader leaves out, for one note at the place of the first.
#[derive(Clone, Copy, Default)]
pub(super) struct UnsentCount {
    count: usize,
    first: Option<usize>,
}

impl UnsentCount {
    pub(super) fn add(&mut self, at: usize) {
        self.count += 1;
        self.first.get_or_insert(at);
    }

    /// Notes the count, if there is any. It takes the place of `{}` in `words`.
    pub(super) fn note(self, source: &mut InputSource<'_>, code: &'static str, words: &str) {
        if let Some(first) = self.first {
            source.note(first, code, words.replace("{}", &self.count.to_string()));
        }
    }
}

/// The input, with the problems found in it.
pub(super) struct InputSource<'a> {
    pub input: &'a Bytes,
    /// The problems found so far.
    pub problems: Vec<ReadProblem>,
    /// Whether the caller wants the whole recording, with what the client has compacted since.
    pub recorded: bool,
    /// Whether some part of the input has to be repaired before it is used.
    dirty: bool,
    /// The last position that was asked for, and its line. Positions nearly always rise, so the next count starts
    /// there.
    line: (usize, usize),
}

impl<'a> InputSource<'a> {
    pub(super) fn new(input: &'a Bytes, dirty: bool, problems: Vec<ReadProblem>) -> Self {
        Self { input, problems, recorded: false, dirty, line: (0, 1) }
    }

    /// The line of the byte at `at`, from 1.
    pub(super) fn line_of(&mut self, at: usize) -> usize {
        let (from, line) = if self.line.0 <= at { self.line } else { (0, 1) };
        let at = at.min(self.input.len());
        let number = line + scan::count_lines(&self.input[from..at]);
        self.line = (at, number);
        number
    }

    /// Notes a problem at the line of `at`.
    pub(super) fn note(&mut self, at: usize, code: &'static str, detail: impl Into<String>) {
        let line = self.line_of(at);
        self.problems.push(ReadProblem::new(code, detail).at(line));
    }

    /// A part of the input as it is, repaired where it is not JSON.
    pub(super) fn slice(&mut self, range: Range<usize>) -> Bytes {
        let at = range.start;
        self.mended(self.input.slice(range), at)
    }

    /// A message as it is in the input.
    pub(super) fn event(&mut self, range: Range<usize>) -> RawEvent {
        RawEvent { source: vec![range.clone()], ..RawEvent::new(self.slice(range)) }
    }

    /// A message that a reader built from these parts of the input. [`Column::At`](super::Column::At) looks for the facts
    /// of the message in these objects, and [`Column::InRecord`](super::Column::InRecord) in the records that hold them.
    pub(super) fn built(&mut self, bytes: Vec<u8>, source: Vec<Range<usize>>) -> RawEvent {
        let at = source.first().map_or(0, |range| range.start);
        RawEvent { source, ..RawEvent::new(self.mended(bytes.into(), at)) }
    }

    /// The summary of older messages: one recorded string as a message in the user's role.
    pub(super) fn recap(&mut self, text: Range<usize>) -> RawEvent {
        let words = ContentPart::Text(Cow::Borrowed(&self.input[text.clone()]));
        let event = self.built(chat::message("user", &[words]), vec![text]);
        RawEvent { origin: Some(TextOrigin::Recap), ..event }
    }

    /// Notes that the client compacted at `at`: so many messages (`unit`) are no longer sent.
    pub(super) fn note_compacted(&mut self, at: usize, count: usize, unit: &str) {
        let detail = format!("{count} {unit} before it are no longer in the context");
        self.note(at, "compacted-before", detail);
    }

    fn mended(&mut self, bytes: Bytes, at: usize) -> Bytes {
        if !self.dirty {
            return bytes;
        }
        let Some(repaired) = text::repair(&bytes) else { return bytes };
        self.note(at, "repaired", format!("{}: replaced in this message only", repaired.defect));
        repaired.bytes.into()
    }
}
