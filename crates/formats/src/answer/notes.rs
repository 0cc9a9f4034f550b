//! The notes that the readers of all dialects share.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::Usage;
use serde::de::IgnoredAny;

use super::facts::{AnswerFacts, PassVerdict};
use crate::fields::ObjectFields;
use crate::overflow::{self, Diagnosis};

/// The most bytes that all replies of one answer may hold together. No model writes a hundredth of that.
pub(super) const OUTPUT_LIMIT: usize = 32 * 1024 * 1024;
/// The bytes that a small part of a reply costs in memory beside its text.
pub(super) const PART_COST: usize = 64;

/// The facts about the answer, and whether more of its reply may be collected.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerNotes {
    pub seen: AnswerFacts,
    pub verdict: PassVerdict,
    /// Whether the reply is collected.
    pub collects: bool,
    /// The bytes that were collected.
    pub collected_bytes: usize,
}

impl AnswerNotes {
    /// Whether `more` bytes of the reply may be collected. At the limit the whole reply is given up, because a client
    /// cannot send a part of it.
    pub fn may_hold(&mut self, more: usize) -> bool {
        if !self.collects {
            return false;
        }
        self.collected_bytes = self.collected_bytes.saturating_add(more);
        if self.collected_bytes > OUTPUT_LIMIT {
            self.note_overrun();
        }
        self.collects
    }

    /// Notes that a part was not read: the reply is given up.
    pub fn note_overrun(&mut self) {
        self.seen.overrun = true;
        self.collects = false;
        self.seen.output = Vec::new();
    }

    /// Notes that the answer has begun to say something, or cannot be judged any further.
    pub fn note_fine(&mut self) {
        if self.verdict == PassVerdict::Undecided {
            self.verdict = PassVerdict::Fine;
        }
    }

    /// Notes an error, or a stop reason that may be one.
    pub fn note_fault(&mut self, diagnosis: Option<Diagnosis>) {
        let Some(diagnosis) = diagnosis else { return };
        self.seen.error = Some(diagnosis);
        // Once the client has bytes of the reply, an overflow can no longer be mended.
        if self.verdict == PassVerdict::Undecided {
            self.verdict = if diagnosis.exceeds_window() {
                PassVerdict::Overflow(diagnosis)
            } else {
                PassVerdict::Fine
            };
        }
    }

    /// Notes a document that holds an `error`.
    pub fn note_error(&mut self, data: &[u8]) {
        let diagnosis = overflow::in_stream(data).unwrap_or_else(|| overflow::classify(None, data));
        self.note_fault(Some(diagnosis));
    }

    /// Notes a stop reason. One that names the context window is an overflow.
    pub fn finish(&mut self, reason: Cow<'_, str>) {
        if reason.contains("context_window_exceeded") {
            self.note_fault(Some(Diagnosis::Overflow { have: None, limit: None }));
        }
        self.seen.finish = Some(reason.into_owned());
    }

    pub fn note_usage(&mut self, usage: Option<Usage>) {
        // A later event without counts does not take back earlier ones.
        self.seen.usage = usage.or(self.seen.usage);
    }

    /// Notes the answer's id. The first one counts: most chunks repeat it, and reading it again would cost time.
    pub fn note_id(&mut self, fields: &ObjectFields<'_>, name: &str) {
        name_once(&mut self.seen.id, fields, name);
    }

    pub fn note_model(&mut self, fields: &ObjectFields<'_>, name: &str) {
        name_once(&mut self.seen.model, fields, name);
    }

    /// Adds a finished message or item at place `at` of the output, if it is JSON.
    pub fn reply(&mut self, at: usize, message: &[u8]) {
        if self.may_hold(message.len() + PART_COST) && is_json(message) {
            self.seen.output.insert(at, Bytes::copy_from_slice(message));
        }
    }
}

fn name_once(slot: &mut Option<String>, fields: &ObjectFields<'_>, name: &str) {
    if slot.is_none() {
        let text = fields.text(name).filter(|text| !text.is_empty());
        *slot = text.map(Cow::into_owned);
    }
}

/// Whether the bytes are JSON, so that a client could send them.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Whether the object holds an error. `"error": null` is no error.
pub(super) fn has_error(fields: &ObjectFields<'_>) -> bool {
    fields.raw("error").is_some_and(|raw| raw != b"null")
}

/// The inside of the string token at `at`, still escaped. Two insides that are joined stay what the provider wrote,
/// even where a surrogate pair was cut apart between them. `None` where there is no string.
pub(super) fn inside(bytes: &[u8], at: Range<usize>) -> Option<&[u8]> {
    match bytes.get(at)? {
        [b'"', inner @ .., b'"'] => Some(inner),
        _ => None,
    }
}

/// The data as UTF-8; other bytes become U+FFFD, as clients read them.
pub(super) fn lossy(data: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(data) {
        Cow::Borrowed(_) => Cow::Borrowed(data),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
