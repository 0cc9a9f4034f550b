//! One answer of the model with what its calls gave back, of clients that keep both together.

use std::ops::Range;

use midfold_core::event::{RawEvent, Usage};

use super::super::chat::{self, Call, Part, Token};
use super::super::source::Source;

/// What a call gave back.
struct Answer<'a> {
    id: Token<'a>,
    name: Token<'a>,
    parts: Vec<Part<'a>>,
    at: Range<usize>,
}

/// The words, thoughts and calls of one answer, and the results of these calls.
#[derive(Default)]
pub(super) struct Step<'a> {
    words: Vec<Part<'a>>,
    thoughts: Vec<Token<'a>>,
    calls: Vec<Call<'a>>,
    answers: Vec<Answer<'a>>,
    ranges: Vec<Range<usize>>,
}

impl<'a> Step<'a> {
    pub(super) fn say(&mut self, part: Part<'a>, at: Range<usize>) {
        if matches!(&part, Part::Text(text) if chat::inside(text).is_empty()) {
            return;
        }
        self.words.push(part);
        self.ranges.push(at);
    }

    pub(super) fn think(&mut self, thought: Token<'a>, at: Range<usize>) {
        if !chat::inside(&thought).is_empty() {
            self.thoughts.push(thought);
            self.ranges.push(at);
        }
    }

    pub(super) fn call(&mut self, call: Call<'a>, at: Range<usize>) {
        self.calls.push(call);
        self.ranges.push(at);
    }

    /// What the call `id` of this answer gave back.
    pub(super) fn answer(
        &mut self,
        (id, name): (Token<'a>, Token<'a>),
        parts: Vec<Part<'a>>,
        at: Range<usize>,
    ) {
        self.answers.push(Answer { id, name, parts, at });
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The reply and its results as messages; nothing stays.
    pub(super) fn finish(
        &mut self,
        source: &mut Source<'_>,
        usage: Option<Usage>,
    ) -> Vec<RawEvent> {
        let Self { words, thoughts, calls, answers, ranges } = std::mem::take(self);
        let mut events = Vec::with_capacity(1 + answers.len());
        if !ranges.is_empty() {
            let bytes = chat::reply(&words, &thoughts, &calls);
            let mut event = source.built(bytes, ranges);
            event.usage = usage;
            events.push(event);
        }
        for Answer { id, name, parts, at } in answers {
            events.push(source.built(chat::result(&id, Some(&name), &parts), vec![at]));
        }
        events
    }
}
