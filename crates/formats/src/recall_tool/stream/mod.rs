//! Joins several streams to the one that the client gets, without the calls of midfold's own tools.

mod anthropic;
mod chat;
mod event;
mod gemini;
mod responses;
mod unrun_numbers;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::vendor::rewrite::{RawEvents, StreamEvent};

use event::SseEvent;

/// Joins streams of server-sent events. Content passes at once. Calls of midfold's own tools do not pass. The end of an
/// answer with such calls is held back until it is known whether another answer follows.
///
/// ```
/// use midfold_formats::{DialectKind, recall_tool::JoinedStream};
/// let mut joined = JoinedStream::new(DialectKind::Anthropic);
/// let mut out = Vec::new();
/// joined.push(b"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"name\":\"midfold_recall\"}}\n\n", &mut out);
/// joined.push(b"data: {\"type\":\"message_stop\"}\n\n", &mut out);
/// assert!(out.is_empty());
/// joined.finish(&mut out);
/// assert_eq!(out, b"data: {\"type\":\"message_stop\"}\n\n");
/// ```
#[derive(Clone, Debug)]
pub struct JoinedStream {
    events: RawEvents,
    part: JoinedPart,
    /// Whether the calls of an answer are held back until its end.
    holds_calls: bool,
    /// The events of an answer from the client's first call on, where those are held back.
    held_bytes: RawBytes,
}

/// The bytes of events that are held back; `None` before the first of them.
type RawBytes = Option<Vec<u8>>;

/// The state of the joined streams, by dialect.
#[derive(Clone, Debug)]
enum JoinedPart {
    Anthropic(anthropic::MessagesStream),
    Chat(chat::ChatStream),
    Responses(responses::ResponsesStream),
    Gemini(gemini::GeminiStream),
    /// A format without such streams.
    Plain,
}

impl JoinedStream {
    /// A stream of which nothing has arrived.
    #[must_use]
    pub fn new(kind: DialectKind) -> Self {
        let part = match kind {
            DialectKind::Anthropic => JoinedPart::Anthropic(anthropic::MessagesStream::default()),
            DialectKind::OpenAiChat => JoinedPart::Chat(chat::ChatStream::default()),
            DialectKind::OpenAiResponses => {
                JoinedPart::Responses(responses::ResponsesStream::default())
            }
            DialectKind::Gemini => JoinedPart::Gemini(gemini::GeminiStream::default()),
            DialectKind::Bedrock | DialectKind::Ollama | DialectKind::ShareGpt => JoinedPart::Plain,
        };
        Self { events: RawEvents::default(), part, holds_calls: false, held_bytes: None }
    }

    /// Whether the client's calls are held back until the end of their answer, so that some of them may be left out.
    /// Text and comments pass at once. Say it before an answer begins.
    pub fn hold_calls(&mut self, holds: bool) {
        self.holds_calls = holds;
    }

    /// Leaves out the calls with these [numbers](super::ClientCall::number) of the answer that has ended. Only calls
    /// that were held back can be left out.
    pub fn leave_out(&mut self, numbers: &[usize]) {
        let unrun = match &mut self.part {
            JoinedPart::Anthropic(part) => &mut part.unrun,
            JoinedPart::Chat(part) => &mut part.unrun,
            JoinedPart::Responses(part) => &mut part.unrun,
            JoinedPart::Gemini(part) => &mut part.unrun,
            JoinedPart::Plain => return,
        };
        unrun.numbers = numbers.to_vec();
    }

    /// Reads the next chunk, and appends to `out` what the client gets of it.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        // Taken out for the call, because the sink borrows all of `self`.
        let mut events = std::mem::take(&mut self.events);
        events.push(chunk, &mut |event| self.event(event, out));
        self.events = events;
    }

    /// Ends an answer that another one follows: its end that was held back is dropped.
    pub fn next(&mut self, out: &mut Vec<u8>) {
        self.rest(out);
        match &mut self.part {
            JoinedPart::Anthropic(part) => part.next(),
            JoinedPart::Chat(part) => part.next(),
            JoinedPart::Responses(part) => part.next(),
            JoinedPart::Gemini(part) => part.next(),
            JoinedPart::Plain => {}
        }
    }

    /// Ends the last answer: its end that was held back is appended to `out`.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.rest(out);
        match &mut self.part {
            JoinedPart::Anthropic(part) => part.finish(out),
            JoinedPart::Chat(part) => part.finish(out),
            JoinedPart::Responses(part) => part.finish(out),
            JoinedPart::Gemini(part) => part.finish(out),
            JoinedPart::Plain => {}
        }
    }

    fn rest(&mut self, out: &mut Vec<u8>) {
        // A provider may end a stream without the blank line of its last event.
        let events = std::mem::take(&mut self.events);
        events.finish(&mut |event| self.event(event, out));
        let Some(bytes) = self.held_bytes.take() else { return };
        let holds = std::mem::replace(&mut self.holds_calls, false);
        let mut events = RawEvents::default();
        events.push(&bytes, &mut |event| self.event(event, out));
        events.finish(&mut |event| self.event(event, out));
        self.holds_calls = holds;
    }

    /// Whether an event is held back: from the first call of the client's tools on all are, but for signs of life.
    fn holds(&self, event: &SseEvent<'_>) -> bool {
        if !self.holds_calls {
            return false;
        }
        let fields = ObjectFields::of(event.data, 0..event.data.len());
        if self.held_bytes.is_some() {
            return !fields.is("type", "ping");
        }
        match &self.part {
            JoinedPart::Anthropic(_) => anthropic::opens_call(&fields),
            JoinedPart::Chat(_) => chat::opens_call(event.data),
            JoinedPart::Responses(_) => responses::opens_call(&fields),
            JoinedPart::Gemini(_) => gemini::opens_call(event.data),
            JoinedPart::Plain => false,
        }
    }

    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<u8>) {
        let raw = event.bytes;
        let Some((name, data)) = event.read() else {
            match &mut self.held_bytes {
                Some(bytes) if event.is_part() => bytes.extend_from_slice(raw),
                _ => out.extend_from_slice(raw),
            }
            return;
        };
        let event = SseEvent { raw, name: &name, data: &data };
        if self.holds(&event) {
            self.held_bytes.get_or_insert_default().extend_from_slice(raw);
            return;
        }
        match &mut self.part {
            JoinedPart::Anthropic(part) => part.event(&event, out),
            JoinedPart::Chat(part) => part.event(&event, out),
            JoinedPart::Responses(part) => part.event(&event, out),
            JoinedPart::Gemini(part) => part.event(&event, out),
            JoinedPart::Plain => event.pass(out),
        }
    }
}
