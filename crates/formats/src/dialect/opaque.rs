//! The view of bytes that midfold does not understand.

use midfold_core::{BlockView, ByteRange, EventView, Role, TextOrigin};

/// The view of bytes that are no message: one opaque block.
pub(super) fn opaque_view(bytes: &[u8]) -> EventView {
    let whole = ByteRange::new(0, bytes.len());
    EventView {
        role: Role::Other,
        origin: TextOrigin::Genuine,
        blocks: vec![BlockView::opaque(whole)],
    }
}
