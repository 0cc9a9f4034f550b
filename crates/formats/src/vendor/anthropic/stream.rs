//! Writes the events of an answer that is a summary.

use super::answer::{CompactionBlock, SummaryMessage, iterations, no_reply};
use crate::vendor::write::{ObjectWriter, event};

/// How a compaction block is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamStyle {
    /// The style of `compact_20260112`: the block opens empty, and one `compaction_delta` holds all of it.
    Threshold,
    /// The style of the top-level `compaction`: the block opens complete, and there is no delta.
    OnDemand,
}

/// The events of a block with this index.
#[must_use]
pub fn block_events(block: &CompactionBlock, index: u64, style: StreamStyle) -> Vec<u8> {
    let mut out = Vec::new();
    let on = |kind: &str| ObjectWriter::of(kind).number("index", index);
    let opening = match style {
        StreamStyle::Threshold => CompactionBlock::default().json(),
        StreamStyle::OnDemand => block.json(),
    };
    let start = on("content_block_start").raw("content_block", &opening).finish();
    event("content_block_start", &start, &mut out);
    if style == StreamStyle::Threshold {
        let delta = ObjectWriter::of("compaction_delta")
            .text_or_null("content", block.content.as_deref())
            .text_if("encrypted_content", block.encrypted_content.as_deref())
            .finish();
        let delta = on("content_block_delta").raw("delta", &delta).finish();
        event("content_block_delta", &delta, &mut out);
    }
    event("content_block_stop", &on("content_block_stop").finish(), &mut out);
    out
}

impl SummaryMessage<'_> {
    /// The answer as a whole stream.
    #[must_use]
    pub fn events(&self, style: StreamStyle) -> Vec<u8> {
        let mut out = Vec::new();
        let message = self.head.message(b"[]", None, &no_reply(None)).finish();
        let start = ObjectWriter::of("message_start").raw("message", &message).finish();
        event("message_start", &start, &mut out);
        out.extend_from_slice(&block_events(self.block, 0, style));
        let delta = ObjectWriter::new()
            .text("stop_reason", Self::STOP_REASON)
            .raw("stop_sequence", b"null")
            .finish();
        let usage = ObjectWriter::new()
            .number("output_tokens", 0)
            .raw("iterations", &iterations(self.iterations))
            .finish();
        let end = ObjectWriter::of("message_delta").raw("delta", &delta).raw("usage", &usage);
        event("message_delta", &self.with_edits(end).finish(), &mut out);
        event("message_stop", &ObjectWriter::of("message_stop").finish(), &mut out);
        out
    }
}
