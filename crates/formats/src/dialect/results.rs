//! Turns results into text, in dialects where a message is a list of blocks.

use bytes::Bytes;
use midfold_core::{BlockView, ByteRange, EventView};

use crate::render::{Json, flags, result_text, splice};

/// Rewrites the results at the indices `blocks` as text blocks. A text block begins with `open`, and a closing brace
/// ends it. Providers want results before any text, so the results that stay move to the front.
pub(super) fn as_text(bytes: &[u8], view: &EventView, blocks: &[usize], open: &str) -> Bytes {
    let text = |index: usize, block: &BlockView| {
        let json = Json::default().raw(open).text(&result_text(bytes, view, index)).raw("}");
        let with = |json: Json, part: ByteRange| json.raw(",").raw(part.of(bytes));
        block.media.iter().fold(json, |json, media| with(json, media.outer)).finish()
    };
    let named = flags(blocks, view.blocks.len());
    let stays = |at: usize, block: &BlockView| block.is_result() && !named[at];
    let all = || view.blocks.iter().enumerate();
    let mut elements: Vec<Bytes> = Vec::with_capacity(view.blocks.len());
    for (_, block) in all().filter(|(at, block)| stays(*at, block)) {
        elements.push(Bytes::copy_from_slice(block.outer.of(bytes)));
    }
    for (at, block) in all().filter(|(at, block)| !stays(*at, block)) {
        elements.push(if block.is_result() {
            text(at, block)
        } else {
            Bytes::copy_from_slice(block.outer.of(bytes))
        });
    }
    let (Some(first), Some(last)) = (view.blocks.first(), view.blocks.last()) else {
        return Bytes::copy_from_slice(bytes);
    };
    // What a view leaves out between the blocks, such as a cache point of Bedrock, is not written again.
    let list = ByteRange { start: first.outer.start, end: last.outer.end };
    Bytes::from(splice(bytes, &[(list, &elements.join(&b","[..]))]))
}
