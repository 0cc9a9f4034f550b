//! The wire formats, one file each, behind [`DialectKind`].
//!
//! Gemini and Bedrock join as two more variants and two more files.

mod anthropic;
mod openai_chat;
mod part;
mod walk;

pub use anthropic::Anthropic;
pub use openai_chat::OpenAiChat;

pub(crate) use walk::inside;

use midfold_core::{Block, ByteRange, Dialect, Origin, Role, View};

/// Bytes that are no message at all: one opaque block.
fn opaque_view(bytes: &[u8]) -> View {
    let whole = ByteRange::new(0, bytes.len());
    View { role: Role::Other, origin: Origin::Genuine, blocks: vec![Block::opaque(whole)] }
}
