//! Joins streams of Responses: items under an index, and states that hold the whole output.

use std::ops::Range;

use super::event::{HeldEvent, SseEvent};
use super::unrun_numbers::UnrunNumbers;
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::recall_tool::calls::{is_others, is_ours};
use crate::recall_tool::joined_answers::{usage::responses as spent, without_tools};
use crate::vendor::rewrite::Splices;
use crate::vendor::write::list;

/// The state of the joined streams.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponsesStream {
    /// The number of answers that ended before this one.
    ended: usize,
    /// The output tokens of the earlier answers.
    output: u64,
    /// The id by which the client knows the answer, and the time when it began.
    id: Option<Vec<u8>>,
    created: Option<Vec<u8>>,
    /// The number of events that the client got.
    events: u64,
    /// The items that the client got.
    items: Vec<Vec<u8>>,
    /// The number of items that the client has been shown.
    shown: u64,
    /// The indices of this answer's items, each with the index by which the client knows it; `None` for a hidden item.
    places: Vec<(u64, Option<u64>)>,
    /// Whether this answer has hidden calls.
    hides: bool,
    /// The end of this answer, which is held back.
    end_events: Vec<HeldEvent>,
    pub(super) unrun: UnrunNumbers,
}

/// Whether an event begins a call that the client has to answer.
pub(super) fn opens_call(fields: &ObjectFields<'_>) -> bool {
    fields.is("type", "response.output_item.added")
        && is_others(DialectKind::OpenAiResponses, &fields.inner("item"))
}

/// The types of events that begin an answer.
const OPENS: [&str; 3] = ["response.created", "response.in_progress", "response.queued"];
/// The types of events that end an answer.
const ENDS: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

impl ResponsesStream {
    /// Writes what the client gets of one event, or holds the event back.
    pub(super) fn event(&mut self, event: &SseEvent<'_>, out: &mut Vec<u8>) {
        let fields = ObjectFields::of(event.data, 0..event.data.len());
        let kind = fields.text("type").unwrap_or_default();
        let response = fields.inner("response");
        if OPENS.contains(&&*kind) {
            // A second `response.created` would begin another answer for the client.
            if self.ended > 0 {
                return;
            }
            self.id = self.id.take().or_else(|| response.raw("id").map(<[u8]>::to_vec));
            let created = response.raw("created_at").map(<[u8]>::to_vec);
            self.created = self.created.take().or(created);
        }
        if ENDS.contains(&&*kind) && (self.hides || self.ended > 0) {
            // The end is also held back for every later answer: the caller may have to note something before the client
            // continues.
            self.end_events.push(event.held_event(event.data));
            return;
        }
        if kind == "response.output_item.added" {
            self.open(&fields);
        }
        let index = fields.count("output_index");
        let place = index.and_then(|index| self.places.iter().rev().find(|(own, _)| *own == index));
        let shown = match place {
            Some((_, None)) => return,
            Some((_, shown)) => *shown,
            None => None,
        };
        if kind == "response.output_item.done" {
            self.items.extend(fields.raw("item").map(<[u8]>::to_vec));
        }
        let data = self.patched(event.data, shown);
        event.write(&data, out);
    }

    fn open(&mut self, fields: &ObjectFields<'_>) {
        let item = fields.inner("item");
        let is_hidden = match is_others(DialectKind::OpenAiResponses, &item) {
            true => self.unrun.take_next(),
            false => is_ours(DialectKind::OpenAiResponses, &item),
        };
        self.hides |= is_hidden;
        self.places.push((fields.number("output_index"), (!is_hidden).then_some(self.shown)));
        self.shown += u64::from(!is_hidden);
    }

    /// The event as the client gets it.
    fn patched(&mut self, data: &[u8], shown: Option<u64>) -> Vec<u8> {
        let fields = ObjectFields::of(data, 0..data.len());
        let mut splices = Splices::default();
        let mut set = |at: Option<Range<usize>>, value: u64| {
            // A number that is right already is not replaced: an event without changes passes byte for byte.
            if let Some(at) = at.filter(|at| data[at.clone()] != *value.to_string().as_bytes()) {
                splices.replace(at, value.to_string());
            }
        };
        // The client's numbers have no gaps: hidden events do not count, and a later answer goes on counting.
        set(fields.get("sequence_number"), self.events);
        self.events += 1;
        if let Some(shown) = shown {
            set(fields.get("output_index"), shown);
        }
        let response = fields.inner("response");
        let is_other = self.ended > 0 || self.hides;
        without_tools(data, &response, &mut splices);
        if self.ended > 0 {
            for (name, value) in [("id", &self.id), ("created_at", &self.created)] {
                if let (Some(at), Some(value)) = (response.get(name), value) {
                    splices.replace(at, &value[..]);
                }
            }
        }
        if let Some(output) = response.array("output").filter(|_| is_other) {
            splices.replace(output, list(&self.items));
        }
        if let Some(usage) = response.object("usage").filter(|_| self.output > 0) {
            splices.replace(usage.clone(), spent(&data[usage], self.output));
        }
        splices.apply(data)
    }

    pub(super) fn next(&mut self) {
        let written = |event: &HeldEvent| {
            let fields = ObjectFields::of(&event.data, 0..event.data.len());
            fields.inner("response").inner("usage").number("output_tokens")
        };
        self.output += self.end_events.iter().map(written).max().unwrap_or(0);
        self.ended += 1;
        (self.places, self.end_events, self.hides) = (Vec::new(), Vec::new(), false);
        self.unrun = UnrunNumbers::default();
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        for event in std::mem::take(&mut self.end_events) {
            let data = self.patched(&event.data, None);
            event.write(&data, out);
        }
    }
}
