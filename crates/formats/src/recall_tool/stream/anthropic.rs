//! Joins streams of Messages, whose blocks open, grow and close under an index.

use super::event::{HeldEvent, SseEvent};
use super::unrun_numbers::UnrunNumbers;
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::recall_tool::calls::{is_others, is_ours};
use crate::recall_tool::joined_answers::usage::anthropic as spent;
use crate::vendor::rewrite::Splices;

/// The state of the joined streams.
#[derive(Clone, Debug, Default)]
pub(super) struct MessagesStream {
    /// The number of answers that ended before this one.
    ended: usize,
    /// The tokens of their output.
    output: u64,
    /// The number of blocks that the client has.
    shown: u64,
    /// The indices of this answer's blocks, each with the index by which the client knows it; `None` for a hidden
    /// block.
    blocks: Vec<(u64, Option<u64>)>,
    /// Whether this answer has hidden calls.
    hides: bool,
    /// Whether this answer has calls that the client gets.
    shows_call: bool,
    /// The usage at the start of this answer, which has the counts of the prompt.
    usage: Vec<u8>,
    /// The end of this answer, which is held back.
    end_events: Vec<HeldEvent>,
    pub(super) unrun: UnrunNumbers,
}

/// Whether an event begins a call that the client has to answer.
pub(super) fn opens_call(fields: &ObjectFields<'_>) -> bool {
    fields.is("type", "content_block_start")
        && is_others(DialectKind::Anthropic, &fields.inner("content_block"))
}

impl MessagesStream {
    /// Writes what the client gets of one event, or holds the event back.
    pub(super) fn event(&mut self, event: &SseEvent<'_>, out: &mut Vec<u8>) {
        let fields = ObjectFields::of(event.data, 0..event.data.len());
        match fields.text("type").as_deref() {
            Some("message_start") => {
                let usage = fields.inner("message").raw("usage").unwrap_or_default();
                self.usage = usage.to_vec();
                // A second `message_start` would begin another message for the client.
                if self.ended == 0 {
                    event.pass(out);
                }
            }
            Some("content_block_start") => {
                self.open(&fields);
                self.renumbered(&fields, event, out);
            }
            Some("content_block_delta" | "content_block_stop") => {
                self.renumbered(&fields, event, out);
            }
            // The end is also held back for every later answer: the caller may have to note something before the client
            // continues.
            Some("message_delta" | "message_stop") if self.hides || self.ended > 0 => {
                self.end_events.push(event.held_event(event.data));
            }
            _ => event.pass(out),
        }
    }

    fn open(&mut self, fields: &ObjectFields<'_>) {
        let block = fields.inner("content_block");
        let is_others = is_others(DialectKind::Anthropic, &block);
        let is_hidden = match is_others {
            true => self.unrun.take_next(),
            false => is_ours(DialectKind::Anthropic, &block),
        };
        self.hides |= is_hidden;
        self.shows_call |= is_others && !is_hidden;
        self.blocks.push((fields.number("index"), (!is_hidden).then_some(self.shown)));
        self.shown += u64::from(!is_hidden);
    }

    fn renumbered(&self, fields: &ObjectFields<'_>, event: &SseEvent<'_>, out: &mut Vec<u8>) {
        let index = fields.number("index");
        let known = self.blocks.iter().rev().find(|(own, _)| *own == index);
        match known {
            Some((_, None)) => {}
            Some((_, Some(shown))) if *shown != index => {
                let mut splices = Splices::default();
                if let Some(at) = fields.get("index") {
                    splices.replace(at, shown.to_string());
                }
                event.write(&splices.apply(event.data), out);
            }
            _ => event.pass(out),
        }
    }

    /// The end of the answer, as the client gets it.
    fn end(&self, data: &[u8]) -> Vec<u8> {
        let fields = ObjectFields::of(data, 0..data.len());
        let mut splices = Splices::default();
        if let Some(usage) = fields.object("usage") {
            // The client gets no `message_start` of a later answer, so the end has to carry the counts of its prompt.
            let start = Some(&self.usage[..]).filter(|_| self.ended > 0);
            splices.replace(usage.clone(), spent(&data[usage], start, self.output));
        }
        let delta = fields.inner("delta");
        if self.hides
            && !self.shows_call
            && delta.is("stop_reason", "tool_use")
            && let Some(at) = delta.get("stop_reason")
        {
            splices.replace(at, *b"\"end_turn\"");
        }
        splices.apply(data)
    }

    pub(super) fn next(&mut self) {
        let written = |event: &HeldEvent| {
            let fields = ObjectFields::of(&event.data, 0..event.data.len());
            fields.inner("usage").number("output_tokens")
        };
        // The counts of `message_delta` are cumulative, so the greatest one counts the whole answer.
        let output = self.output + self.end_events.iter().map(written).max().unwrap_or(0);
        *self = Self { ended: self.ended + 1, output, shown: self.shown, ..Self::default() };
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        for event in std::mem::take(&mut self.end_events) {
            let data = ObjectFields::of(&event.data, 0..event.data.len());
            match data.is("type", "message_delta") {
                true => event.write(&self.end(&event.data), out),
                false => event.write(&event.data, out),
            }
        }
    }
}
