//! Reads answers of Responses, whose items are sent back as they arrived.

use std::ops::Range;

use super::notes::{AnswerNotes, has_error, is_json};
use crate::fields::ObjectFields;
use crate::{scan, usage};

/// The output index of each collected item, in the order of the output.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponsesAnswer {
    places: Vec<u64>,
}

impl ResponsesAnswer {
    /// Reads one event of the stream, or an answer in one document (`kind` is then empty).
    pub(super) fn read_event(&mut self, kind: &[u8], data: &[u8], notes: &mut AnswerNotes) {
        match kind {
            b"response.created" | b"response.in_progress" | b"response.queued" => {
                let event = ObjectFields::of(data, 0..data.len());
                head(&event.inner("response"), notes);
            }
            b"response.completed" | b"response.incomplete" | b"response.failed" => {
                let event = ObjectFields::of(data, 0..data.len());
                self.read_whole(data, &event.inner("response"), notes);
                notes.seen.is_complete = true;
                if kind == b"response.failed" {
                    notes.note_error(data);
                }
                notes.note_fine();
            }
            b"response.output_item.done" => {
                notes.note_fine();
                if notes.collects {
                    let event = ObjectFields::of(data, 0..data.len());
                    // An item without an index goes to the end.
                    let place = event.count("output_index").unwrap_or(u64::MAX);
                    if let Some(item) = event.object("item") {
                        self.read_item(data, item, place, notes);
                    }
                }
            }
            b"error" => notes.note_error(data),
            // The deltas of an item are skipped, because `response.output_item.done` has the whole item.
            _ if kind.starts_with(b"response.") => notes.note_fine(),
            b"" => {
                let answer = ObjectFields::of(data, 0..data.len());
                if has_error(&answer) {
                    notes.note_error(data);
                }
                if answer.has("output") || answer.is("object", "response") {
                    self.read_whole(data, &answer, notes);
                    notes.seen.is_complete = is_json(data);
                    notes.note_fine();
                } else if answer.is_empty() {
                    notes.note_fine();
                }
            }
            _ => {}
        }
    }

    /// Reads a whole answer, or the last event, which holds all of the answer. Its items are taken only where the
    /// stream brought none before.
    fn read_whole(&mut self, data: &[u8], answer: &ObjectFields<'_>, notes: &mut AnswerNotes) {
        head(answer, notes);
        if let Some(status) = answer.text("status") {
            notes.finish(status);
        }
        notes.note_usage(usage::reported(data));
        if let Some(output) = answer.array("output")
            && self.places.is_empty()
        {
            for item in scan::elements(data, output) {
                self.read_item(data, item, u64::MAX, notes);
            }
        }
    }

    fn read_item(&mut self, data: &[u8], item: Range<usize>, place: u64, notes: &mut AnswerNotes) {
        // Items can end in another order than that of their indices. Equal indices keep the order of arrival.
        let at = self.places.partition_point(|known| *known <= place);
        let before = notes.seen.output.len();
        notes.reply(at.min(before), &data[item]);
        // An item that was refused takes no place: `places` and the output stay aligned.
        if notes.seen.output.len() > before {
            self.places.insert(at, place);
        }
    }
}

fn head(answer: &ObjectFields<'_>, notes: &mut AnswerNotes) {
    notes.note_id(answer, "id");
    notes.note_model(answer, "model");
}
