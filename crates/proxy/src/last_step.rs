//! The last step of a conversation: what its client sent behind the history, and the answer.

use bytes::Bytes;
use midfold_formats::DialectKind;

/// The newest messages of a conversation, from its last complete answer.
pub(super) struct LastStep {
    /// The shape of its messages.
    pub kind: DialectKind,
    /// How many messages the history before it has.
    pub events: usize,
    /// What the client sent behind the history, and the answer.
    pub messages: Vec<Bytes>,
}
