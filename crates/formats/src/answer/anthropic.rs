//! Reads answers of Anthropic Messages, whose blocks open, grow and close.

use std::collections::BTreeMap;

use midfold_core::jsonstr;

use super::merge::comma;
use super::notes::{AnswerNotes, PART_COST, has_error, inside, is_json};
use crate::fields::ObjectFields;
use crate::scan;
use crate::usage::StreamCounts;

/// The reply, as far as it has arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct AnthropicAnswer {
    /// The blocks by their index.
    blocks: BTreeMap<u64, AnswerBlock>,
    /// The content of a message that arrived in one document, as the provider wrote it. `None` for a stream, and where
    /// there is none.
    whole: Option<Vec<u8>>,
    counts: StreamCounts,
}

/// A content block.
#[derive(Clone, Debug, Default)]
struct AnswerBlock {
    /// The block as its `content_block_start` event gave it.
    start: Vec<u8>,
    /// The strings that deltas add to.
    grown: Vec<GrownMember>,
    /// The JSON of a call's input, as the still escaped inside of the string tokens that brought it.
    input: Vec<u8>,
    /// The citations as JSON objects.
    citations: Vec<Vec<u8>>,
    /// Whether the block's end has arrived.
    is_closed: bool,
}

/// A string that deltas add to.
#[derive(Clone, Debug)]
struct GrownMember {
    name: String,
    /// The inside of the string token.
    text: Vec<u8>,
    /// Whether the text continues what the block opened with, or replaces it, as a signature does.
    continues: bool,
}

impl AnthropicAnswer {
    /// Reads one event of the stream, or a message in one document. `kind` is the event's type.
    pub(super) fn read_event(&mut self, kind: &[u8], data: &[u8], notes: &mut AnswerNotes) {
        match kind {
            b"content_block_delta" => {
                notes.note_fine();
                if notes.collects {
                    self.read_delta(data, notes);
                }
            }
            b"content_block_start" => {
                notes.note_fine();
                if notes.collects {
                    self.start(data, notes);
                }
            }
            b"content_block_stop" => {
                let event = ObjectFields::of(data, 0..data.len());
                if let Some(block) = self.blocks.get_mut(&event.number("index")) {
                    block.is_closed = true;
                }
                notes.note_fine();
            }
            b"message_start" => {
                let event = ObjectFields::of(data, 0..data.len());
                self.read_head(&event.inner("message"), notes);
            }
            b"message_delta" => {
                let event = ObjectFields::of(data, 0..data.len());
                self.read_usage(&event, notes);
                if let Some(reason) = event.inner("delta").text("stop_reason") {
                    notes.finish(reason);
                }
                notes.note_fine();
            }
            b"message_stop" => {
                notes.seen.is_complete = true;
                notes.note_fine();
            }
            b"error" => notes.note_error(data),
            // A ping comes before the reply as well, so it must not set the verdict.
            b"ping" => {}
            _ => self.read_document(data, notes),
        }
    }

    /// Reads an event without a known type: a message in one document, an error, or an event of a newer API.
    fn read_document(&mut self, data: &[u8], notes: &mut AnswerNotes) {
        let answer = ObjectFields::of(data, 0..data.len());
        if has_error(&answer) {
            notes.note_error(data);
        }
        if let Some(content) = answer.array("content") {
            self.read_head(&answer, notes);
            // Blocks are a reply, even where the window stopped it. A provider refuses a message without them.
            let has_blocks = scan::elements(data, content.clone()).next().is_some();
            if has_blocks {
                notes.note_fine();
            }
            if let Some(reason) = answer.text("stop_reason") {
                notes.finish(reason);
            }
            notes.seen.is_complete = is_json(data);
            if has_blocks && notes.may_hold(content.len()) {
                self.whole = Some(data[content].to_vec());
            }
        }
        notes.note_fine();
    }

    fn read_head(&mut self, message: &ObjectFields<'_>, notes: &mut AnswerNotes) {
        notes.note_id(message, "id");
        notes.note_model(message, "model");
        self.read_usage(message, notes);
    }

    fn read_usage(&mut self, holder: &ObjectFields<'_>, notes: &mut AnswerNotes) {
        self.counts.add(&holder.inner("usage"));
        notes.note_usage(self.counts.usage());
    }

    fn start(&mut self, data: &[u8], notes: &mut AnswerNotes) {
        let event = ObjectFields::of(data, 0..data.len());
        let Some(start) = event.raw("content_block") else { return };
        if notes.may_hold(start.len() + PART_COST) {
            let block = AnswerBlock { start: start.to_vec(), ..AnswerBlock::default() };
            self.blocks.insert(event.number("index"), block);
        }
    }

    /// Adds a delta to its block. A delta whose block never opened is ignored.
    fn read_delta(&mut self, data: &[u8], notes: &mut AnswerNotes) {
        let event = ObjectFields::of(data, 0..data.len());
        let Some(block) = self.blocks.get_mut(&event.number("index")) else { return };
        let delta = event.inner("delta");
        let kind = delta.text("type").unwrap_or_default();
        if !notes.may_hold(event.raw("delta").map_or(0, <[u8]>::len)) {
            return;
        }
        let mut grow = |name: &str, continues: bool| {
            let more = delta.string(name).and_then(|at| inside(data, at));
            more.is_none_or(|more| block.grow(name, more, continues))
        };
        let fits = match &*kind {
            "text_delta" => grow("text", true),
            "thinking_delta" => grow("thinking", true),
            "signature_delta" => grow("signature", false),
            "input_json_delta" => {
                let more = delta.string("partial_json").and_then(|at| inside(data, at));
                block.input.extend_from_slice(more.unwrap_or_default());
                true
            }
            "citations_delta" => {
                block.citations.extend(delta.raw("citation").map(<[u8]>::to_vec));
                true
            }
            // A kind of delta that is newer than this code: each of its strings is added to the member of the same
            // name.
            _ => delta.keys().filter(|name| name != "type").all(|name| grow(&name, true)),
        };
        if !fits {
            notes.note_overrun();
        }
    }

    /// Writes the message as a client sends it back. Nothing is written where no block can be sent.
    pub(super) fn finish(self, notes: &mut AnswerNotes) {
        if !notes.collects {
            return;
        }
        let mut out = br#"{"role":"assistant","content":"#.to_vec();
        if let Some(whole) = &self.whole {
            out.extend_from_slice(whole);
        } else {
            out.push(b'[');
            let open = out.len();
            for block in self.blocks.values().filter(|block| block.can_be_sent()) {
                comma(&mut out);
                block.write(&mut out);
            }
            if out.len() == open {
                return;
            }
            out.push(b']');
        }
        out.push(b'}');
        notes.reply(0, &out);
    }
}

/// The most members of one block that deltas may add to.
const NAMES: usize = 16;

impl AnswerBlock {
    /// Adds `more` to the member `name`. Returns `false` where the block has no room for another name.
    fn grow(&mut self, name: &str, more: &[u8], continues: bool) -> bool {
        if let Some(known) = self.grown.iter_mut().find(|known| known.name == name) {
            if !known.continues {
                known.text.clear();
            }
            known.text.extend_from_slice(more);
            return true;
        }
        if self.grown.len() >= NAMES {
            return false;
        }
        self.grown.push(GrownMember { name: name.to_owned(), text: more.to_vec(), continues });
        true
    }

    /// Whether a client may send this block. Of the blocks that were cut off, only text may be sent.
    fn can_be_sent(&self) -> bool {
        // A provider refuses thinking without its signature, and half an input is no JSON. It refuses blank text, too.
        let start = ObjectFields::of(&self.start, 0..self.start.len());
        self.is_closed || start.is("type", "text") && !self.is_blank(&start)
    }

    /// Whether the block has no text, or nothing but blanks.
    fn is_blank(&self, start: &ObjectFields<'_>) -> bool {
        let grown = self.grown.iter().find(|grown| grown.name == "text");
        let grown = grown.map(|grown| jsonstr::decode(&grown.text));
        let texts = [start.text("text"), grown];
        texts.iter().flatten().all(|text| text.trim().is_empty())
    }

    /// Writes the block: the members with which it opened, with the grown ones in place of their first values, and then
    /// the members that only deltas brought.
    fn write(&self, out: &mut Vec<u8>) {
        let start = ObjectFields::of(&self.start, 0..self.start.len());
        // Input that was cut off is no JSON. The block then keeps the input that it opened with: `{}`.
        let input = jsonstr::decode(&self.input);
        let input = Some(input.as_bytes()).filter(|input| is_json(input));
        let replaced = |name: &str| {
            let is_input = name == "input" && input.is_some();
            let is_citations = name == "citations" && !self.citations.is_empty();
            is_input || is_citations || self.grown.iter().any(|grown| grown.name == name)
        };
        out.push(b'{');
        for member in scan::members(&self.start, 0..self.start.len()) {
            let name = jsonstr::decode(&self.start[member.key.clone()]);
            comma(out);
            if replaced(&name) {
                self.write_grown(&name, &start, input, out);
            } else {
                out.extend_from_slice(&self.start[member.whole()]);
            }
        }
        let grown = self.grown.iter().map(|grown| &*grown.name);
        for name in grown.chain(["input", "citations"]).filter(|name| !start.has(name)) {
            if replaced(name) {
                comma(out);
                self.write_grown(name, &start, input, out);
            }
        }
        out.push(b'}');
    }

    /// Writes a member that deltas added to.
    fn write_grown(
        &self,
        name: &str,
        start: &ObjectFields<'_>,
        input: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) {
        jsonstr::encode_into(name, out);
        out.push(b':');
        if let Some(grown) = self.grown.iter().find(|grown| grown.name == name) {
            out.push(b'"');
            if grown.continues
                && let Some(at) = start.string(name)
            {
                out.extend_from_slice(inside(&self.start, at).unwrap_or_default());
            }
            out.extend_from_slice(&grown.text);
            out.push(b'"');
        } else if name == "citations" {
            out.push(b'[');
            out.extend_from_slice(&self.citations.join(&b','));
            out.push(b']');
        } else {
            out.extend_from_slice(input.unwrap_or(b"{}"));
        }
    }
}
