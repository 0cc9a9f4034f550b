//! One answer of the model with the results of its calls, for clients that keep both together.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::{RawEvent, Usage};
use midfold_core::jsonstr;
use serde::de::IgnoredAny;

use crate::read::{
    InputSource, UnsentCount,
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
    /// Where it was recorded.
    at: usize,
}

impl StepCall<'_> {
    /// Whether all of its arguments were recorded. Those that were recorded in pieces may end in the middle.
    fn is_whole(&self) -> bool {
        let Some(Cow::Owned(pieces)) = &self.arguments else { return true };
        serde_json::from_str::<IgnoredAny>(&jsonstr::decode(pieces)).is_ok()
    }
}

/// A text that arrives in pieces.
struct OpenText {
    is_thought: bool,
    /// The inside of its token so far.
    inner: Vec<u8>,
    /// The first piece.
    at: Range<usize>,
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
    text: Option<OpenText>,
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
        let arguments = arguments.map(Cow::Borrowed);
        self.calls.push(StepCall { id, name, arguments, at: at.start });
        self.ranges.push(at);
    }

    /// Adds a piece of a text: the inside of a string token. Neighbouring pieces of one kind are one text.
    pub(super) fn piece(&mut self, is_thought: bool, inner: &[u8], at: &Range<usize>) {
        if self.text.as_ref().is_some_and(|text| text.is_thought != is_thought) {
            self.settle();
        }
        let new = || OpenText { is_thought, inner: Vec::new(), at: at.clone() };
        self.text.get_or_insert_with(new).inner.extend_from_slice(inner);
    }

    /// Ends the text that arrives in pieces.
    pub(super) fn settle(&mut self) {
        if let Some(OpenText { is_thought, inner, at }) = self.text.take() {
            let text = Cow::Owned([&b"\""[..], &inner, b"\""].concat());
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

    /// Adds the result of the call `id` of this answer, which may have failed.
    pub(super) fn answer(
        &mut self,
        (id, name): (StringToken<'a>, StringToken<'a>),
        parts: Vec<ContentPart<'a>>,
        at: Range<usize>,
        failed: bool,
    ) {
        self.answers.push(StepResult { id, name, parts, at, failed });
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
        // A result shows that a call was made, whatever its arguments are.
        let is_made = |call: &StepCall<'_>| {
            call.is_whole() || answers.iter().any(|answer| answer.id == call.id)
        };
        let (calls, unmade): (Vec<_>, Vec<_>) = calls.into_iter().partition(is_made);
        let mut unsent = UnsentCount::default();
        unmade.iter().for_each(|call| unsent.add(call.at));
        unsent.note(source, "not-sent", "{} calls are left out: their arguments end in the middle");
        let mut events = Vec::with_capacity(1 + answers.len());
        // Results can come alone, where a reader has finished the step with their calls already.
        if !(words.is_empty() && thoughts.is_empty() && calls.is_empty()) {
            let calls = calls.iter().map(|StepCall { id, name, arguments, .. }| {
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
