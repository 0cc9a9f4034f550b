//! Puts a compaction item in front of a provider's reply.

use super::answer::{CompactionItem, item_events};
use crate::fields::ObjectFields;
use crate::scan;
use crate::vendor::rewrite::{RawEvents, Splices, StreamEvent, write_event};

/// Puts an item at the start of a stream. The output indices of the reply's items rise by one, and the sequence numbers
/// of all later events rise by two. Everything else passes byte for byte.
///
/// ```
/// use midfold_formats::vendor::openai::{ItemInsertion, CompactionItem};
/// let item = CompactionItem { id: "cmp_1".into(), encrypted_content: "x".into() };
/// let mut insertion = ItemInsertion::new(&item);
/// let mut out = Vec::new();
/// insertion.push(b"data: {\"type\":\"response.output_text.delta\",\"sequence_number\":2,\"output_index\":0}\n\n", &mut out);
/// let text = String::from_utf8(out)?;
/// assert!(text.contains(r#""type":"response.output_item.done","sequence_number":3,"output_index":0"#));
/// assert!(text.ends_with("\"sequence_number\":4,\"output_index\":1}\n\n"));
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ItemInsertion {
    item: CompactionItem,
    /// Whether the item has been written.
    is_in: bool,
    events: RawEvents,
}

/// The number of events of an item.
const EVENTS: u64 = 2;

impl ItemInsertion {
    /// An insertion of this item.
    #[must_use]
    pub fn new(item: &CompactionItem) -> Self {
        Self { item: item.clone(), is_in: false, events: RawEvents::default() }
    }

    /// Rewrites the next chunk of a stream. An event whose end has not arrived is held back.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let mut events = std::mem::take(&mut self.events);
        events.push(chunk, &mut |event| self.read_event(event, out));
        self.events = events;
    }

    /// Writes what was held back.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        let events = std::mem::take(&mut self.events);
        events.finish(&mut |event| self.read_event(event, out));
    }

    /// Rewrites one event, and puts the item before the first event of the reply.
    fn read_event(&mut self, event: StreamEvent<'_>, out: &mut Vec<u8>) {
        let raw = event.bytes;
        let Some((name, data)) = event.read() else {
            out.extend_from_slice(raw);
            return;
        };
        let fields = ObjectFields::of(&data, 0..data.len());
        let kind = fields.text("type").unwrap_or_default();
        let opens = ["response.created", "response.in_progress", "response.queued"];
        // An error before the reply stays first, without the item.
        let says = kind.starts_with("response.") && kind != "response.failed";
        if !self.is_in && (opens.contains(&&*kind) || !says) {
            out.extend_from_slice(raw);
            return;
        }
        if !self.is_in {
            self.is_in = true;
            out.extend_from_slice(&item_events(&self.item, 0, fields.number("sequence_number")));
        }
        let mut splices = Splices::default();
        splices.shift(&fields, "sequence_number", EVENTS);
        splices.shift(&fields, "output_index", 1);
        // The states at the end hold the whole output.
        if let Some(output) = fields.inner("response").array("output") {
            splices.prepend(&data, &output, &self.item.json());
        }
        write_event(&name, &splices.apply(&data), out);
    }
}

/// Puts the item into an answer in one document. A body without an output is returned as it is.
#[must_use]
pub fn insert(item: &CompactionItem, body: &[u8]) -> Vec<u8> {
    let Some(whole) = scan::value(body, 0) else { return body.to_vec() };
    let Some(output) = ObjectFields::of(body, whole).array("output") else { return body.to_vec() };
    let mut splices = Splices::default();
    splices.prepend(body, &output, &item.json());
    splices.apply(body)
}
