//! One answer of the model with what its calls gave back, of clients that keep both together.

use std::borrow::Cow;
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

/// A call, whose arguments may have been recorded in pieces.
struct Made<'a> {
    id: Token<'a>,
    name: Token<'a>,
    arguments: Option<Cow<'a, [u8]>>,
}

/// The words, thoughts and calls of one answer, and the results of these calls.
#[derive(Default)]
pub(super) struct Step<'a> {
    words: Vec<Part<'a>>,
    thoughts: Vec<Token<'a>>,
    calls: Vec<Made<'a>>,
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
        let Call { id, name, arguments } = call;
        self.calls.push(Made { id, name, arguments: arguments.map(Cow::Borrowed) });
        self.ranges.push(at);
    }

    /// A call whose arguments, a JSON value, a reader put together.
    pub(super) fn call_whole(
        &mut self,
        (id, name): (Token<'a>, Token<'a>),
        arguments: Vec<u8>,
        at: Range<usize>,
    ) {
        self.calls.push(Made { id, name, arguments: Some(Cow::Owned(arguments)) });
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
            let calls = calls.iter().map(|Made { id, name, arguments }| {
                let (id, name) = (id.clone(), name.clone());
                Call { id, name, arguments: arguments.as_deref() }
            });
            let calls: Vec<_> = calls.collect();
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
