//! The place of a request in its conversation.

use std::sync::{Arc, Mutex};

use midfold_core::budget::Budget;

use super::conversation::ProxyConversation;
use super::newest::NewestMessages;
use super::rules::RequestReading;

/// The place of a request in its conversation.
pub(super) struct ConversationSlot {
    pub conversation: Arc<Mutex<ProxyConversation>>,
    /// The settings that the request is read with.
    pub reading: RequestReading,
    /// The messages of the request that follow its history.
    pub newest: NewestMessages,
    pub budget: Budget,
    /// How many events the session had when this request was sent. Another request may follow before this one is
    /// answered, and the session has more events then.
    pub events: usize,
    /// Whether the request is no turn, but the client's own request for a summary, or a question about its
    /// conversation.
    pub is_aside: bool,
}
