//! One answer of the model with the results of its calls, for clients that keep both together.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::{RawEvent, Usage};
use midfold_core::jsonstr;
use serde::de::IgnoredAny;

use crate::read::{
    InputSource,
    chat::{self, ChatCall, ContentPart, StringToken},
};

/// The result of a call.
struct StepResult<'a> {
    id: StringToken<'a>,
    name: StringToken<'a>,
    parts: Vec<ContentPart<'a>>,
    at: Range<usize>,
    failed: bool,
}

/// A call, whose arguments may have been recorded in pieces.
struct StepCall<'a> {
    id: StringToken<'a>,
    name: StringToken<'a>,
    arguments: Option<Cow<'a, [u8]>>,
}

/// The words, reasoning and calls of one answer, and the results of these calls.
#[derive(Default)]
pub(super) struct ClientStep<'a> {
    words: Vec<ContentPart<'a>>,
    thoughts: Vec<StringToken<'a>>,
    calls: Vec<StepCall<'a>>,
    /// The results of the calls.
    answers: Vec<StepResult<'a>>,
    /// The ranges of the records from which the reply was built.
    ranges: Vec<Range<usize>>,
    /// A text that arrives in pieces: whether it is reasoning, the inside of its token so far, and the first piece.
    text: Option<(bool, Vec<u8>, Range<usize>)>,
}

impl<'a> ClientStep<'a> {
    pub(super) fn say(&mut self, part: ContentPart<'a>, at: Range<usize>) {
        if matches!(&part, ContentPart::Text(text) if chat::inside(text).is_empty()) {
            return;
        }
        self.words.push(part);
        self.ranges.push(at);
    }

    pub(super) fn think(&mut self, thought: StringToken<'a>, at: Range<usize>) {
        if !chat::inside(&thought).is_empty() {
            self.thoughts.push(thought);
            self.ranges.push(at);
        }
    }

    pub(super) fn call(&mut self, call: ChatCall<'a>, at: Range<usize>) {
        let ChatCall { id, name, arguments } = call;
        self.calls.push(StepCall { id, name, arguments: arguments.map(Cow::Borrowed) });
        self.ranges.push(at);
    }

    /// Adds a piece of a text: the inside of a string token. Neighbouring pieces of one kind are one text.
    pub(super) fn piece(&mut self, is_thought: bool, inner: &[u8], at: &Range<usize>) {
        if self.text.as_ref().is_some_and(|(kind, ..)| *kind != is_thought) {
            self.settle();
        }
        let (_, pieces, _) = self.text.get_or_insert_with(|| (is_thought, Vec::new(), at.clone()));
        pieces.extend_from_slice(inner);
    }

    /// Ends the text that arrives in pieces.
    pub(super) fn settle(&mut self) {
        if let Some((is_thought, pieces, at)) = self.text.take() {
            let text = Cow::Owned([&b"\""[..], &pieces, b"\""].concat());
            match is_thought {
                true => self.think(text, at),
                false => self.say(ContentPart::Text(text), at),
            }
        }
    }

    /// Adds a piece to the arguments of the newest call: the inside of a string token.
    pub(super) fn more_arguments(&mut self, inner: &[u8]) {
        let Some(call) = self.calls.last_mut().filter(|_| !inner.is_empty()) else { return };
        let token = call.arguments.get_or_insert(Cow::Borrowed(b"\"\"")).to_mut();
        token.pop();
        token.extend_from_slice(inner);
        token.push(b'"');
    }

    /// The name of the tool that a call of this answer calls.
    pub(super) fn name_of(&self, id: &[u8]) -> Option<StringToken<'a>> {
        self.calls.iter().find(|call| *call.id == *id).map(|call| call.name.clone())
    }

    /// Adds the result of the call `id` of this answer.
    pub(super) fn answer(
        &mut self,
        (id, name): (StringToken<'a>, StringToken<'a>),
        parts: Vec<ContentPart<'a>>,
        at: Range<usize>,
    ) {
        self.answers.push(StepResult { id, name, parts, at, failed: false });
    }

    /// Notes that the call failed whose result was added last.
    pub(super) fn failed(&mut self) {
        if let Some(answer) = self.answers.last_mut() {
            answer.failed = true;
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns the reply and its results as messages, and leaves the step empty.
    pub(super) fn finish(
        &mut self,
        source: &mut InputSource<'_>,
        usage: Option<Usage>,
    ) -> Vec<RawEvent> {
        self.settle();
        let Self { words, thoughts, calls, answers, ranges, .. } = std::mem::take(self);
        let mut events = Vec::with_capacity(1 + answers.len());
        // Results can come alone, where a reader has finished the step with their calls already.
        if !ranges.is_empty() {
            // A call whose arguments were recorded in pieces, and not whole yet, was not made.
            let is_whole = |call: &&StepCall<'_>| match &call.arguments {
                Some(Cow::Owned(pieces)) => {
                    let text = jsonstr::decode(pieces);
                    serde_json::from_str::<IgnoredAny>(&text).is_ok()
                }
                _ => true,
            };
            let calls = calls.iter().filter(is_whole).map(|StepCall { id, name, arguments }| {
                let (id, name) = (id.clone(), name.clone());
                ChatCall { id, name, arguments: arguments.as_deref() }
            });
            let calls: Vec<_> = calls.collect();
            let bytes = chat::reply(&words, &thoughts, &calls);
            let mut event = source.built(bytes, ranges);
            event.usage = usage;
            events.push(event);
        }
        for StepResult { id, name, parts, at, failed } in answers {
            let event = source.built(chat::result(&id, Some(&name), &parts), vec![at]);
            events.push(RawEvent { failed, ..event });
        }
        events
    }
}
