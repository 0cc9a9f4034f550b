//! The facts about a provider's answer, collected while it passes.

use bytes::Bytes;
use midfold_core::Usage;

use crate::overflow::Diagnosis;

/// Whether the bytes that have arrived can go to the client, or have to be held back. An overflow that is reported
/// inside a stream can be mended only while the client has seen nothing of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassVerdict {
    /// Nothing has been decided: only the start of a message, pings or comments have arrived.
    #[default]
    Undecided,
    /// The reply has begun, or the answer is an error that compacting does not mend.
    Fine,
    /// The prompt did not fit, and nothing was said before that.
    Overflow(Diagnosis),
}

/// The facts about a provider's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// The last usage reported. Anthropic reports at the start and at the end; the two are combined here.
    pub usage: Option<Usage>,
    /// The answer's id: `chatcmpl-…`, `resp_…`, `msg_…`, Gemini's `responseId`.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The reason why the answer ended, in the provider's word: `finish_reason`, `status`, `stop_reason`,
    /// `finishReason`.
    pub finish: Option<String>,
    /// Whether the end was seen: `[DONE]`, `response.completed` (`incomplete`, `failed`), `message_stop`, a
    /// `finishReason`, `"done":true`, or a whole document.
    pub is_complete: bool,
    /// What an error in the answer means, or a stop reason that reports one.
    pub error: Option<Diagnosis>,
    /// The messages or items of the reply, as a client sends them back; each is valid JSON. Items of Responses are the
    /// provider's bytes, and each is here as soon as it has arrived. A message is here after
    /// [`AnswerTee::finish`](super::AnswerTee::finish). An answer that was cut off keeps its whole blocks, and its text
    /// as far as it arrived.
    pub output: Vec<Bytes>,
    /// The number of events, lines or documents that were read.
    pub events: usize,
    /// Whether something was larger than the limits and was not read; `output` is then empty.
    pub overrun: bool,
}

impl AnswerFacts {
    /// The window that an answer reveals which stopped because the window was full: all of its tokens. `None` for every
    /// other answer.
    #[must_use]
    pub fn full_window(&self) -> Option<u64> {
        let is_full = self.finish.as_ref()?.contains("context_window_exceeded");
        let usage = self.usage.filter(|_| is_full)?;
        usage.prompt.checked_add(usage.output)
    }
}
