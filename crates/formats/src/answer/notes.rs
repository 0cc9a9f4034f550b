//! What the readers of all dialects write down.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::Usage;
use serde::de::IgnoredAny;

use super::facts::{AnswerFacts, PassVerdict};
use crate::fields::ObjectFields;
use crate::overflow::{self, Diagnosis};

/// What all replies of one answer may hold together. No model writes a hundredth of it.
pub(super) const OUTPUT_LIMIT: usize = 32 * 1024 * 1024;
/// What a small part of a reply costs beside its bytes.
pub(super) const PART_COST: usize = 64;

/// What is known, and what may still be collected.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerNotes {
    pub seen: AnswerFacts,
    pub verdict: PassVerdict,
    /// The reply is wanted.
    pub collects: bool,
    /// Bytes that were collected.
    pub held: usize,
}

impl AnswerNotes {
    /// Whether this many more bytes of the reply may be collected. Once they may not, the reply is
    /// given up whole: a part of it is none.
    pub fn may_hold(&mut self, more: usize) -> bool {
        if !self.collects {
            return false;
        }
        self.held = self.held.saturating_add(more);
        if self.held > OUTPUT_LIMIT {
            self.overrun();
        }
        self.collects
    }

    /// A part was not read.
    pub fn overrun(&mut self) {
        self.seen.overrun = true;
        self.collects = false;
        self.seen.output = Vec::new();
    }

    /// The answer has begun to say something, or cannot be judged any further.
    pub fn fine(&mut self) {
        if self.verdict == PassVerdict::Undecided {
            self.verdict = PassVerdict::Fine;
        }
    }

    /// An error, or a stop reason that may be one.
    pub fn fault(&mut self, told: Option<Diagnosis>) {
        let Some(told) = told else { return };
        self.seen.error = Some(told);
        if self.verdict == PassVerdict::Undecided {
            self.verdict =
                if told.exceeds_window() { PassVerdict::Overflow(told) } else { PassVerdict::Fine };
        }
    }

    /// A document with an `error`.
    pub fn error(&mut self, data: &[u8]) {
        let told = overflow::in_stream(data).unwrap_or_else(|| overflow::classify(None, data));
        self.fault(Some(told));
    }

    /// A stop reason. One that speaks of the window is an overflow.
    pub fn finish(&mut self, data: &[u8], reason: Cow<'_, str>) {
        if reason.contains("context_window_exceeded") {
            self.fault(overflow::in_stream(data));
        }
        self.seen.finish = Some(reason.into_owned());
    }

    pub fn usage(&mut self, usage: Option<Usage>) {
        self.seen.usage = usage.or(self.seen.usage);
    }

    /// The first name wins: a chunk that repeats it must not cost anything.
    pub fn id(&mut self, fields: &ObjectFields<'_>, name: &str) {
        name_once(&mut self.seen.id, fields, name);
    }

    pub fn model(&mut self, fields: &ObjectFields<'_>, name: &str) {
        name_once(&mut self.seen.model, fields, name);
    }

    /// A finished message or item, if it is JSON.
    pub fn reply(&mut self, at: usize, message: &[u8]) {
        if self.may_hold(message.len() + PART_COST) && is_json(message) {
            self.seen.output.insert(at, Bytes::copy_from_slice(message));
        }
    }
}

fn name_once(slot: &mut Option<String>, fields: &ObjectFields<'_>, name: &str) {
    if slot.is_none() {
        let told = fields.text(name).filter(|told| !told.is_empty());
        *slot = told.map(Cow::into_owned);
    }
}

/// Whether a client could send these bytes.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Whether there is an error: `"error": null` is none.
pub(super) fn has_error(fields: &ObjectFields<'_>) -> bool {
    fields.raw("error").is_some_and(|raw| raw != b"null")
}

/// The inside of the string token at `at`, still escaped: joined with others it is what the
/// provider wrote, surrogates that were cut apart included.
pub(super) fn inside(bytes: &[u8], at: Range<usize>) -> Option<&[u8]> {
    match bytes.get(at)? {
        [b'"', inner @ .., b'"'] => Some(inner),
        _ => None,
    }
}

/// A document with nothing in it that is no text: what clients make of other bytes, too.
pub(super) fn lossy(data: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(data) {
        Cow::Borrowed(_) => Cow::Borrowed(data),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
