//! One conversation of an input, as readers hand it over.

use bytes::Bytes;
use midfold_core::event::RawEvent;

use super::format::TranscriptFormat;

/// What travels beside the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The JSON value of a top-level `system`, `instructions` or `systemInstruction`.
    pub system: Option<Bytes>,
    /// The JSON value of `tools` or `toolConfig`.
    pub tools: Option<Bytes>,
    /// The model, where it is named; the last one where it changed.
    pub model: Option<String>,
    /// What surrounds the messages, where they are in one array.
    pub wrapper: Option<MessageWrapper>,
}

/// The object (or the bare list) that held the messages: `before`, then `[`, the messages joined
/// by commas and `]`, then `after`, is the input value with every other byte untouched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageWrapper {
    /// What is before the list's bracket; empty for a bare list.
    pub before: Bytes,
    /// What is after the list's bracket; empty for a bare list.
    pub after: Bytes,
}

/// One conversation of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The id that the input gives it: session, task, row.
    pub id: Option<String>,
    /// What it was written in.
    pub format: TranscriptFormat,
    /// Its messages, oldest first: what the model would be sent next, without what the client
    /// compacted or took back (a [`ReadProblem`](crate::ReadProblem) tells of that).
    pub events: Vec<RawEvent>,
    /// What travels beside them.
    pub envelope: Envelope,
    /// The line where it starts, from 1.
    pub line: usize,
}

impl Conversation {
    pub(super) fn new(format: TranscriptFormat, line: usize) -> Self {
        Self { id: None, format, events: Vec::new(), envelope: Envelope::default(), line }
    }

    /// The same without its messages.
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
