//! One conversation of an input, as the readers return it.

use bytes::Bytes;
use midfold_core::event::RawEvent;

use super::format::TranscriptFormat;

/// The parts of a request beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The JSON value of a top-level `system`, `instructions` or `systemInstruction`.
    pub system: Option<Bytes>,
    /// The JSON value of `tools` or `toolConfig`.
    pub tools: Option<Bytes>,
    /// The model, where the input names one; the last one where it changed.
    pub model: Option<String>,
    /// The bytes around the messages, where they are in one array.
    pub wrapper: Option<MessageWrapper>,
}

/// The bytes around the list of messages. `before`, then `[`, the messages joined by commas and `]`, then `after` is
/// the input value with all other bytes unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageWrapper {
    /// The bytes before the list's bracket; empty for a bare list.
    pub before: Bytes,
    /// The bytes after the list's bracket; empty for a bare list.
    pub after: Bytes,
}

/// One conversation of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The id of the session, task or row. `None` where the input has none.
    pub id: Option<String>,
    /// The format in which it was written.
    pub format: TranscriptFormat,
    /// The messages, oldest first: those that the model would be sent next. Messages that the client compacted or took
    /// back are left out, and a [`ReadProblem`](crate::ReadProblem) reports them.
    pub events: Vec<RawEvent>,
    /// The parts beside the messages.
    pub envelope: Envelope,
    /// The line where it starts, from 1.
    pub line: usize,
}

impl Conversation {
    pub(super) fn new(format: TranscriptFormat, line: usize) -> Self {
        Self { id: None, format, events: Vec::new(), envelope: Envelope::default(), line }
    }

    /// A copy without its messages.
    pub(super) fn beside(&self) -> Self {
        let Self { id, format, envelope, line, .. } = self;
        let (id, envelope) = (id.clone(), envelope.clone());
        Self { id, format: *format, events: Vec::new(), envelope, line: *line }
    }

    /// Whether `later` begins with all messages of this one.
    pub(super) fn is_within(&self, later: &Self) -> bool {
        let same = |(a, b): (&RawEvent, &RawEvent)| a.bytes == b.bytes;
        self.events.len() <= later.events.len() && self.events.iter().zip(&later.events).all(same)
    }
}
