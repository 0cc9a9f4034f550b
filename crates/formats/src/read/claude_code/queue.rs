//! Reads what a person typed while the agent worked, in files of older clients. The message was put into a queue and
//! taken out of it, and no other record has it.

use std::collections::{HashMap, VecDeque};

use super::attachment;
use super::record::RecordMessage;
use crate::fields::ObjectFields;
use crate::read::text::TopValue;

/// The queue of messages while a file is read.
pub(super) struct Queue {
    waiting: VecDeque<(String, RecordMessage)>,
    /// The texts of newer records with the same words, each with the number of records that are still to be matched.
    attached: HashMap<String, usize>,
}

impl Queue {
    pub(super) fn of(input: &[u8], records: &[TopValue]) -> Self {
        let mut attached = HashMap::new();
        // Most files have no queue, so the records are read only where one exists.
        let has_queue = memchr::memmem::find(input, b"queue-operation").is_some();
        for record in records.iter().filter(|_| has_queue) {
            let fields = ObjectFields::of(input, record.range.clone());
            let attachment = fields.inner("attachment");
            if attachment.is("type", "queued_command") {
                *attached.entry(text(input, &attachment, "prompt")).or_insert(0) += 1;
            }
        }
        Self { waiting: VecDeque::new(), attached }
    }

    /// The message that a record takes out of the queue and gives to the agent within its turn. `None` for any other
    /// record: a message that begins a turn (`dequeue`) has a record of its own, and one that goes back to the person
    /// (`popAll`) is not sent.
    pub(super) fn take_sent(
        &mut self,
        input: &[u8],
        record: &TopValue,
        fields: &ObjectFields<'_>,
    ) -> Option<RecordMessage> {
        if !fields.is("type", "queue-operation") {
            return None;
        }
        match &*fields.text("operation")? {
            "enqueue" => {
                let message = attachment::user_message(input, fields, "content")?;
                self.waiting.push_back((text(input, fields, "content"), message));
            }
            "dequeue" => {
                self.waiting.pop_front();
            }
            "popAll" => self.waiting.clear(),
            "remove" => return self.remove_deleted(input, record, fields),
            _ => {}
        }
        None
    }

    fn remove_deleted(
        &mut self,
        input: &[u8],
        record: &TopValue,
        fields: &ObjectFields<'_>,
    ) -> Option<RecordMessage> {
        let named = fields.has("content").then(|| text(input, fields, "content"));
        let at = named.map_or(Some(0), |named| {
            self.waiting.iter().position(|(waiting, _)| *waiting == named)
        });
        let (words, mut message) = self.waiting.remove(at?)?;
        let absorbed = fields.text("reason").is_none_or(|reason| reason.starts_with("absorbed"));
        // The newer record has the message too, at the place where it was sent.
        if let Some(count) = self.attached.get_mut(&words).filter(|count| **count > 0) {
            *count -= 1;
            return None;
        }
        // The message was sent here, and not where it was put into the queue.
        message.range = record.range.clone();
        absorbed.then_some(message)
    }
}

fn text(input: &[u8], fields: &ObjectFields<'_>, name: &str) -> String {
    let mut out = String::new();
    if let Some(range) = fields.get(name) {
        attachment::strings(input, range, 2, &mut out);
    }
    out
}
