//! Reads answers of Gemini's `generateContent`, streamed or not.

use std::ops::Range;

use super::merge::comma;
use super::notes::{AnswerNotes, PART_COST, has_error, inside};
use crate::fields::ObjectFields;
use crate::{scan, usage};

/// The parts of the first candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct GeminiAnswer {
    parts: Vec<GeminiPart>,
    /// The role, as a JSON string token.
    role: Option<Vec<u8>>,
}

/// A part of the reply, as far as it has arrived.
#[derive(Clone, Debug)]
enum GeminiPart {
    /// A part that is only text: the inside of its string token, and whether it is a thought.
    Text(Vec<u8>, bool),
    /// Any other part, as it arrived. A text with a signature is kept this way: the signature covers exactly this text,
    /// so it must not be joined with its neighbours.
    Raw(Vec<u8>),
}

impl GeminiAnswer {
    pub(super) fn read_event(&mut self, data: &[u8], notes: &mut AnswerNotes) {
        let whole = ObjectFields::of(data, 0..data.len());
        if has_error(&whole) {
            notes.note_error(data);
        }
        // Code Assist wraps each chunk in `response`.
        let chunk =
            if whole.object("response").is_some() { whole.inner("response") } else { whole };
        notes.note_id(&chunk, "responseId");
        notes.note_model(&chunk, "modelVersion");
        if chunk.object("usageMetadata").is_some() {
            notes.note_usage(usage::reported(data));
        }
        // A blocked prompt has no candidates, so no later chunk would set the verdict.
        if chunk.is_empty() || chunk.inner("promptFeedback").has("blockReason") {
            notes.note_fine();
        }
        for candidate in scan::elements(data, chunk.array("candidates").unwrap_or(0..0)) {
            self.read_candidate(data, candidate, notes);
        }
    }

    /// Reads one candidate of a chunk. Candidates after the first are skipped.
    fn read_candidate(&mut self, data: &[u8], at: Range<usize>, notes: &mut AnswerNotes) {
        let candidate = ObjectFields::of(data, at);
        if candidate.number("index") != 0 {
            return;
        }
        if let Some(reason) = candidate.text("finishReason") {
            notes.finish(reason);
            notes.seen.is_complete = true;
            notes.note_fine();
        }
        let content = candidate.inner("content");
        let Some(parts) = content.array("parts") else { return };
        if notes.collects && self.role.is_none() {
            self.role = content.string("role").map(|role| data[role].to_vec());
        }
        for part in scan::elements(data, parts) {
            notes.note_fine();
            if !notes.collects {
                break;
            }
            self.read_part(data, part, notes);
        }
    }

    fn read_part(&mut self, data: &[u8], at: Range<usize>, notes: &mut AnswerNotes) {
        // The result needs no check: at the limit `collects` is cleared, and `finish` writes nothing.
        notes.may_hold(at.len() + PART_COST);
        let part = ObjectFields::of(data, at.clone());
        let thought = part.is_true("thought");
        let is_text = part.len() == 1 + usize::from(part.has("thought"));
        let text = part.string("text").filter(|_| is_text).and_then(|text| inside(data, text));
        match (text, self.parts.last_mut()) {
            (Some(more), Some(GeminiPart::Text(text, kind))) if *kind == thought => {
                text.extend_from_slice(more);
            }
            (Some(text), _) => self.parts.push(GeminiPart::Text(text.to_vec(), thought)),
            (None, _) => self.parts.push(GeminiPart::Raw(data[at].to_vec())),
        }
    }

    /// Writes the content as a client sends it back.
    pub(super) fn finish(self, notes: &mut AnswerNotes) {
        if self.parts.is_empty() || !notes.collects {
            return;
        }
        let mut out = br#"{"role":"#.to_vec();
        out.extend_from_slice(self.role.as_deref().unwrap_or(br#""model""#));
        out.extend_from_slice(br#","parts":["#);
        for part in &self.parts {
            comma(&mut out);
            match part {
                GeminiPart::Raw(raw) => out.extend_from_slice(raw),
                GeminiPart::Text(text, thought) => {
                    out.extend_from_slice(br#"{"text":""#);
                    out.extend_from_slice(text);
                    out.extend_from_slice(if *thought {
                        br#"","thought":true}"#
                    } else {
                        br#""}"#
                    });
                }
            }
        }
        out.extend_from_slice(b"]}");
        notes.reply(0, &out);
    }
}
