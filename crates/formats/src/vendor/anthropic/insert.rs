//! Puts a compaction block in front of a provider's reply.

use super::answer::{
    AppliedEdit, CompactionBlock, Iteration, IterationKind, applied_edits, iterations,
};
use super::stream::{StreamStyle, block_events};
use crate::fields::ObjectFields;
use crate::usage::{StreamCounts, reported};
use crate::vendor::rewrite::{RawEvents, Splices, StreamEvent, write_event};

/// The additions to an answer: a block before its content, the usage of the summary, and the effects of edits.
/// Everything else passes byte for byte.
///
/// ```
/// use midfold_formats::vendor::anthropic::{CompactionBlock, BlockInsertion};
/// let block = CompactionBlock { content: Some("Summary".into()), ..CompactionBlock::default() };
/// let mut insertion = BlockInsertion::new().block(&block);
/// let mut out = Vec::new();
/// insertion.push(b"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n", &mut out);
/// assert_eq!(out, b"data: {\"type\":\"content_block_stop\",\"index\":1}\n\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockInsertion {
    block: Option<CompactionBlock>,
    /// The call for the summary, if it is to be reported.
    cost: Option<Iteration>,
    /// The effects of edits. `None` where the answer is not to report any.
    edits: Option<Vec<AppliedEdit>>,
    events: RawEvents,
    counts: StreamCounts,
}

impl BlockInsertion {
    /// Adds nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block before the content. The indices of the reply's blocks rise by one.
    #[must_use]
    pub fn block(mut self, block: &CompactionBlock) -> Self {
        self.block = Some(block.clone());
        self
    }

    /// Adds the usage of the summary to `usage.iterations`, followed by the reply's own usage.
    #[must_use]
    pub fn cost(mut self, compaction: Iteration) -> Self {
        self.cost = Some(compaction);
        self
    }

    /// Adds the effects of edits. An empty list says that no edit was applied.
    #[must_use]
    pub fn edits(mut self, edits: &[AppliedEdit]) -> Self {
        self.edits = Some(edits.to_vec());
        self
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

    /// Rewrites one event. Events that need no change keep their bytes.
    fn read_event(&mut self, event: StreamEvent<'_>, out: &mut Vec<u8>) {
        let raw = event.bytes;
        let Some((name, data)) = event.read() else {
            out.extend_from_slice(raw);
            return;
        };
        let fields = ObjectFields::of(&data, 0..data.len());
        let mut splices = Splices::default();
        let kind = fields.text("type").unwrap_or_default();
        match &*kind {
            "message_start" => {
                // Most counts come in `message_start`, and the reply's iteration at the end needs them.
                self.counts.add(&fields.inner("message").inner("usage"));
                out.extend_from_slice(raw);
                if let Some(block) = &self.block {
                    out.extend_from_slice(&block_events(block, 0, StreamStyle::Threshold));
                }
                return;
            }
            "content_block_start" | "content_block_delta" | "content_block_stop"
                if self.block.is_some() =>
            {
                splices.shift(&fields, "index", 1);
            }
            "message_delta" if self.edits.is_some() || self.cost.is_some() => {
                self.counts.add(&fields.inner("usage"));
                if let (true, Some(usage)) = (self.cost.is_some(), fields.object("usage")) {
                    splices.set(&data, usage, "iterations", &self.iterations(self.counts.usage()));
                }
                if let Some(edits) = &self.edits
                    && let Some(whole) = crate::scan::value(&data, 0)
                {
                    splices.set(&data, whole, "context_management", &applied_edits(edits));
                }
            }
            _ => {
                out.extend_from_slice(raw);
                return;
            }
        }
        write_event(&name, &splices.apply(&data), out);
    }

    fn iterations(&self, reply: Option<midfold_core::Usage>) -> Vec<u8> {
        let reply = reply.map(|usage| Iteration { kind: IterationKind::Message, usage });
        let all: Vec<_> = self.cost.into_iter().chain(reply).collect();
        iterations(&all)
    }
}

/// Makes the additions to an answer in one document. A body that is no message is returned as it is.
#[must_use]
pub fn insert(insertion: &BlockInsertion, body: &[u8]) -> Vec<u8> {
    let Some(whole) = crate::scan::value(body, 0) else { return body.to_vec() };
    let fields = ObjectFields::of(body, whole.clone());
    let Some(content) = fields.array("content") else { return body.to_vec() };
    let mut splices = Splices::default();
    if let Some(block) = &insertion.block {
        splices.prepend(body, &content, &block.json());
    }
    if let (true, Some(usage)) = (insertion.cost.is_some(), fields.object("usage")) {
        let iterations = insertion.iterations(reported(body));
        splices.set(body, usage, "iterations", &iterations);
    }
    if let Some(edits) = &insertion.edits {
        splices.set(body, whole, "context_management", &applied_edits(edits));
    }
    splices.apply(body)
}
