//! What is known about an answer.

use bytes::Bytes;
use midfold_core::Usage;

use crate::overflow::Diagnosis;

/// Whether what has come can be passed on, or has to be held back: an overflow that is reported
/// within a stream can be mended only while the client has seen nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassVerdict {
    /// Nothing has been said: the start of a message, pings, comments.
    #[default]
    Undecided,
    /// The reply has begun, or the answer is an error that compacting does not mend.
    Fine,
    /// The prompt did not fit, and nothing else was said before.
    Overflow(Diagnosis),
}

/// What is known about an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// The last usage reported; of Anthropic, what was said at the start and at the end together.
    pub usage: Option<Usage>,
    /// The answer's id: `chatcmpl-…`, `resp_…`, `msg_…`, Gemini's `responseId`.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Why it ended, in the provider's word: `finish_reason`, `status`, `stop_reason`,
    /// `finishReason`.
    pub finish: Option<String>,
    /// The end was seen: `[DONE]`, `response.completed` (`incomplete`, `failed`), `message_stop`, a
    /// `finishReason`, `"done":true`, or a document that is there whole.
    pub is_complete: bool,
    /// What an error in the answer, or a stop reason that is one, means.
    pub error: Option<Diagnosis>,
    /// The messages or items of the reply, as a client sends them back. Items of Responses are the
    /// provider's bytes and stand here as they come; a message is there after [`AnswerTee::finish`](super::AnswerTee::finish).
    /// Each is valid JSON. Of an answer that was cut off, what came whole, and text as far as it came.
    pub output: Vec<Bytes>,
    /// Events, lines or documents that were read.
    pub events: usize,
    /// Something was larger than the limits and was not read; `output` is empty then.
    pub overrun: bool,
}
