//! Results in front of the user's words. A provider that reads neighbouring messages of a role as one takes results only
//! at the start of the user's turn; some clients write the words first.

use bytes::Bytes;

use crate::view::{BlockView, EventView, Role};

/// The user's message with its results in front of its other blocks; `None` where they are there.
pub(crate) fn results_first(bytes: &[u8], view: &EventView) -> Option<Bytes> {
    let blocks = &view.blocks;
    let last = blocks.iter().rposition(BlockView::is_result)?;
    let is_sorted = blocks[..last].iter().all(BlockView::is_result);
    // Blocks inside one string have no place of their own.
    let is_nested = blocks.iter().any(|block| block.body.nested.is_some());
    if is_sorted || is_nested || view.role != Role::User {
        return None;
    }
    let (results, others): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| block.is_result());
    let sorted: Vec<&[u8]> =
        results.into_iter().chain(others).map(|block| block.outer.of(bytes)).collect();
    let (start, end) = (blocks.first()?.outer.start as usize, blocks.last()?.outer.end as usize);
    let parts = [bytes.get(..start)?, &sorted.join(&b","[..]), bytes.get(end..)?];
    Some(Bytes::from(parts.concat()))
}
