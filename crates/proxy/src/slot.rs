//! Where a request is in its conversation.

use std::sync::{Arc, Mutex};

use midfold_core::budget::Budget;

use super::conversation::ProxyConversation;
use super::rules::RequestReading;

/// Where a request is in its conversation.
pub(super) struct ConversationSlot {
    pub conversation: Arc<Mutex<ProxyConversation>>,
    /// How the request is read.
    pub reading: RequestReading,
    /// Messages that are history.
    pub stable: usize,
    /// Tokens of those that are not.
    pub suffix: u64,
    pub budget: Budget,
    /// How many events the session had when this request left: another request may follow it before
    /// this one is answered.
    pub events: usize,
    /// A client's own request for a summary, or about its conversation.
    pub is_aside: bool,
}
