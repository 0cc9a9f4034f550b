//! Writes a context in the shape that its conversation had.

use midfold::formats::transcript::Transcript;
pub use midfold::formats::transcript::{flat, list};
use midfold::{Context, PreparedConversation};

/// The messages of a context, with the envelope of the conversation.
pub fn of<'a>(prepared: &'a PreparedConversation, context: &Context) -> Transcript<'a> {
    let messages = context.pieces().map(|piece| piece.bytes.clone()).collect();
    Transcript::new(prepared.kind, &prepared.source.envelope, messages).as_lines(prepared.is_lines)
}
