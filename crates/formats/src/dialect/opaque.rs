//! What is not understood.

use midfold_core::{Block, ByteRange, Origin, Role, View};

/// Bytes that are no message at all: one opaque block.
pub(super) fn opaque_view(bytes: &[u8]) -> View {
    let whole = ByteRange::new(0, bytes.len());
    View { role: Role::Other, origin: Origin::Genuine, blocks: vec![Block::opaque(whole)] }
}
