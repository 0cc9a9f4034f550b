//! The place of a request in its conversation.

use std::sync::{Arc, Mutex};

use midfold_core::budget::Budget;
use midfold_formats::request::Request;

use super::conversation::ProxyConversation;
use super::lock::lock;
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

impl ConversationSlot {
    /// Takes the provider's count of a refused prompt of `counted` tokens by midfold's own count: what it has more than was estimated may be of the newest messages.
    pub fn note_refused(&mut self, request: &Request, counted: u64, have: u64) {
        let mut conversation = lock(&self.conversation);
        let session = &conversation.session;
        // Otherwise more of what nobody has counted yet is in the history.
        if session.tokens_since_count() > self.newest.counted {
            return;
        }
        let meter = *session.meter();
        let history = meter.calibrated(counted.saturating_sub(self.newest.counted));
        let real = have.saturating_sub(history);
        if let Some(dense) = self.newest.note_real(request, &self.reading, &meter, real) {
            conversation.dense = Some(dense);
        }
    }
}
