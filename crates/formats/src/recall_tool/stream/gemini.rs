//! Joins streams of Gemini, which are chunks of parts.

use std::ops::Range;

use bytes::Bytes;

use super::event::{HeldEvent, SseEvent};
use super::unrun_numbers::UnrunNumbers;
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::recall_tool::calls::{is_others, is_ours};
use crate::recall_tool::joined_answers::usage::gemini as spent;
use crate::recall_tool::signature::Signature;
use crate::request::without_member;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::list;

/// The parts of a chunk without content.
const NOTHING: &[u8] = br#"[{"text":""}]"#;

/// The state of the joined streams.
#[derive(Clone, Debug, Default)]
pub(super) struct GeminiStream {
    /// The number of answers that ended before this one.
    ended: usize,
    /// The output tokens of the earlier answers, in replies and in reasoning.
    output: (u64, u64),
    /// The output tokens of this answer so far, in its reply and in its reasoning.
    written: (u64, u64),
    /// The id by which the client knows the answer.
    id: Option<Vec<u8>>,
    /// Whether this answer has hidden calls.
    hides: bool,
    signature: Signature,
    /// The end of this answer, which is held back.
    end_events: Vec<HeldEvent>,
    pub(super) unrun: UnrunNumbers,
}

/// Whether a chunk has a call that the client has to answer.
pub(super) fn opens_call(data: &[u8]) -> bool {
    let parts = parts(data, &chunk(data)).unwrap_or(0..0);
    scan::elements(data, parts)
        .any(|at| is_others(DialectKind::Gemini, &ObjectFields::of(data, at)))
}

impl GeminiStream {
    /// Writes what the client gets of one chunk, or holds the chunk back.
    pub(super) fn event(&mut self, event: &SseEvent<'_>, out: &mut Vec<u8>) {
        let data = event.data;
        let chunk = chunk(data);
        if self.ended == 0 {
            self.id = self.id.take().or_else(|| chunk.raw("responseId").map(<[u8]>::to_vec));
        }
        let used = chunk.inner("usageMetadata");
        let newest = |name: &str, before: u64| used.count(name).unwrap_or(before);
        self.written = (
            newest("candidatesTokenCount", self.written.0),
            newest("thoughtsTokenCount", self.written.1),
        );
        let mut splices = Splices::default();
        if let (Some(at), Some(id), true) = (chunk.get("responseId"), &self.id, self.ended > 0) {
            splices.replace(at, &id[..]);
        }
        if let Some(usage) = chunk.object("usageMetadata").filter(|_| self.output != (0, 0)) {
            splices.replace(usage.clone(), spent(&data[usage], self.output));
        }
        let parts = parts(data, &chunk);
        let all: Vec<_> = scan::elements(data, parts.clone().unwrap_or(0..0)).collect();
        let shown: Vec<_> = all.iter().filter_map(|at| self.part(data, at)).collect();
        let is_cut = shown.len() < all.len();
        let is_other = !shown.iter().eq(all.iter().map(|at| &data[at.clone()]));
        self.hides |= is_cut;
        let finish = finish(data, &chunk);
        if let Some(parts) = parts.filter(|_| is_other) {
            splices.replace(parts, if shown.is_empty() { NOTHING.to_vec() } else { list(&shown) });
        }
        let whole = splices.apply(data);
        // The end is also held back for every later answer: the caller may have to note something before the client
        // continues.
        if !(finish && (self.hides || self.ended > 0)) {
            // A chunk of nothing but hidden calls is left out.
            if !(is_cut && shown.is_empty()) {
                event.write(&whole, out);
            }
            return;
        }
        if shown.is_empty() {
            self.end_events.push(event.held_event(whole));
            return;
        }
        event.write(&open(&whole), out);
        self.end_events.push(event.held_event(silent(&whole)));
    }

    /// A part as the client gets it. `None` for a hidden call.
    fn part(&mut self, data: &[u8], at: &Range<usize>) -> Option<Vec<u8>> {
        let part = ObjectFields::of(data, at.clone());
        let is_others = is_others(DialectKind::Gemini, &part);
        let is_unrun = is_others && self.unrun.take_next();
        if is_unrun || is_ours(DialectKind::Gemini, &part) {
            self.signature.hide(&part);
            return None;
        }
        Some(self.signature.show(&data[at.clone()]))
    }

    pub(super) fn next(&mut self) {
        let Self { ended, output, written, id, .. } = std::mem::take(self);
        let output = (output.0 + written.0, output.1 + written.1);
        *self = Self { ended: ended + 1, output, id, ..Self::default() };
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        for event in std::mem::take(&mut self.end_events) {
            event.write(&event.data, out);
        }
    }
}

/// The members of a chunk. Code Assist wraps each chunk in `response`.
fn chunk(data: &[u8]) -> ObjectFields<'_> {
    let whole = ObjectFields::of(data, 0..data.len());
    if whole.object("response").is_some() { whole.inner("response") } else { whole }
}

fn candidate<'a>(data: &'a [u8], chunk: &ObjectFields<'_>) -> Option<ObjectFields<'a>> {
    let first = scan::elements(data, chunk.array("candidates")?).next()?;
    Some(ObjectFields::of(data, first))
}

fn finish(data: &[u8], chunk: &ObjectFields<'_>) -> bool {
    candidate(data, chunk).is_some_and(|fields| fields.string("finishReason").is_some())
}

/// The range of a chunk's parts.
fn parts(data: &[u8], chunk: &ObjectFields<'_>) -> Option<Range<usize>> {
    candidate(data, chunk)?.inner("content").array("parts")
}

/// The content of a chunk that also ends the answer, without that end.
fn open(data: &[u8]) -> Vec<u8> {
    let chunk = chunk(data);
    let first = chunk.array("candidates").and_then(|all| scan::elements(data, all).next());
    let mut splices = Splices::default();
    if let Some(first) = first {
        let candidate = Bytes::copy_from_slice(&data[first.clone()]);
        splices.replace(first, without_member(&candidate, "finishReason").to_vec());
    }
    splices.apply(data)
}

/// The end of such a chunk, without its content.
fn silent(data: &[u8]) -> Vec<u8> {
    let mut splices = Splices::default();
    if let Some(parts) = parts(data, &chunk(data)) {
        splices.replace(parts, NOTHING);
    }
    splices.apply(data)
}
