//! Reads answers of Chat Completions, and of Ollama's `/api/chat`.

use std::ops::Range;

use super::merge::{MergeRules, MergedObject, comma};
use super::notes::{AnswerNotes, has_error, is_json};
use crate::fields::ObjectFields;
use crate::{scan, usage};

/// The reply of the first choice, as far as it has arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatAnswer {
    message: MergedObject,
    /// A message that arrived in one document, as the provider wrote it. `None` for a stream.
    whole: Option<Vec<u8>>,
}

impl ChatAnswer {
    /// Reads one chunk of a stream, or an answer in one document.
    pub(super) fn read_event(&mut self, data: &[u8], notes: &mut AnswerNotes) {
        if data == b"[DONE]" {
            notes.seen.is_complete = true;
            notes.note_fine();
            return;
        }
        let chunk = ObjectFields::of(data, 0..data.len());
        notes.note_id(&chunk, "id");
        notes.note_model(&chunk, "model");
        if has_error(&chunk) || chunk.is("type", "error") || chunk.is("object", "error") {
            notes.note_error(data);
        }
        if chunk.object("usage").is_some() || chunk.has("prompt_eval_count") {
            notes.note_usage(usage::reported(data));
        } else if let Some(groq) = chunk.object("x_groq") {
            // In a stream, Groq has the usage in a member of its own.
            notes.note_usage(usage::reported(&data[groq]));
        }
        if let Some(choices) = chunk.array("choices") {
            for choice in scan::elements(data, choices) {
                self.read_choice(data, choice, notes);
            }
        } else if let Some(message) = chunk.object("message") {
            self.read_line(data, &chunk, message, notes);
        } else if chunk.is_empty() {
            // Data that is no object can be no refusal, so nothing is gained by holding it back.
            notes.note_fine();
        }
    }

    /// Reads one choice of a chunk.
    fn read_choice(&mut self, data: &[u8], at: Range<usize>, notes: &mut AnswerNotes) {
        let choice = ObjectFields::of(data, at);
        let says = |name| choice.object(name).is_some_and(|part| has_content(data, part));
        if says("delta") || says("message") {
            notes.note_fine();
        }
        // A client continues with the first of several choices, so only that one is kept.
        let is_first = choice.number("index") == 0;
        if let Some(reason) = choice.text("finish_reason") {
            if is_first {
                notes.finish(reason);
            }
            notes.note_fine();
        }
        if !is_first {
            return;
        }
        if let Some(usage) = choice.object("usage") {
            notes.note_usage(usage::reported(&data[usage]));
        }
        if let Some(message) = choice.object("message") {
            notes.note_fine();
            notes.seen.is_complete = is_json(data);
            if notes.may_hold(message.len()) {
                self.whole = Some(data[message].to_vec());
            }
        } else if let Some(delta) = choice.object("delta")
            && notes.collects
        {
            self.add(data, delta, false, notes);
        }
    }

    /// Reads a line of Ollama's stream, or its whole answer.
    fn read_line(
        &mut self,
        data: &[u8],
        line: &ObjectFields<'_>,
        message: Range<usize>,
        notes: &mut AnswerNotes,
    ) {
        if has_content(data, message.clone()) {
            notes.note_fine();
        }
        if let Some(reason) = line.text("done_reason") {
            notes.finish(reason);
        }
        if line.is_true("done") {
            notes.seen.is_complete = true;
            notes.note_fine();
        }
        if notes.collects {
            self.add(data, message, true, notes);
        }
    }

    fn add(
        &mut self,
        data: &[u8],
        part: Range<usize>,
        whole_elements: bool,
        notes: &mut AnswerNotes,
    ) {
        let mut how = MergeRules { whole_elements, added: 0, overrun: false };
        self.message.add(data, part, &mut how);
        if how.overrun {
            notes.note_overrun();
        } else {
            notes.may_hold(how.added);
        }
    }

    /// Writes the message as a client sends it back. Nothing is written for a message without content.
    pub(super) fn finish(self, notes: &mut AnswerNotes) {
        if let Some(whole) = self.whole {
            notes.reply(0, &whole);
            return;
        }
        if self.message.is_empty() || !notes.collects {
            return;
        }
        let mut body = Vec::new();
        self.message.write(&[b"\"role\""], &mut body);
        if body == b"{}" {
            return;
        }
        let mut out = br#"{"role":"assistant""#.to_vec();
        // Clients send a message of calls back with `content: null`, and the reply has to match it.
        let has_content = scan::get(&body, 0..body.len(), "content").is_some();
        if !has_content {
            out.extend_from_slice(br#","content":null"#);
        }
        comma(&mut out);
        out.extend_from_slice(&body[1..]);
        notes.reply(0, &out);
    }
}

/// Whether a message, or a part of it, holds more than the role, which opens a stream.
fn has_content(data: &[u8], message: Range<usize>) -> bool {
    scan::members(data, message).any(|member| {
        let is_empty = match &data[member.value.clone()] {
            b"null" | b"\"\"" => true,
            [b'[', ..] => scan::elements(data, member.value.clone()).next().is_none(),
            [b'{', ..] => scan::members(data, member.value.clone()).next().is_none(),
            _ => false,
        };
        !is_empty && !member.is(data, "role")
    })
}
