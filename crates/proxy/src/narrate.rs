//! Requests for narrations of a conversation, to be answered while its client works on. This crate only makes and
//! judges them; a caller that has a model runs them.

use std::sync::{Arc, Mutex, Weak};

use midfold_core::budget::Budget;
use midfold_core::fold::VerdictCode;
use midfold_core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_store::Millis;

use super::conversation::ProxyConversation;
use super::lock::lock;
use super::shared::Proxy;

/// A conversation whose next fold may contain a narration by a model.
pub struct NarrationTarget {
    pub(super) proxy: Arc<Proxy>,
    pub(super) conversation: Weak<Mutex<ProxyConversation>>,
    pub(super) budget: Budget,
}

impl NarrationTarget {
    /// Returns the request that a model should answer now; `None` if there is none. The same span is requested only
    /// once.
    #[must_use]
    pub fn wants(&self, now: Millis) -> Option<SummaryRequest> {
        let conversation = self.conversation.upgrade()?;
        lock(&conversation).session.take_request(&self.budget, now)
    }

    /// Judges a narration line by line; the next fold uses the accepted lines. `None` if the conversation is gone, or
    /// its history has changed meanwhile.
    pub fn complete(
        &self,
        request: &SummaryRequest,
        answer: Result<SummaryReply, SummaryFailure>,
        now: Millis,
    ) -> Option<VerdictCode> {
        let conversation = self.conversation.upgrade()?;
        let verdict = lock(&conversation).session.complete(request, answer, now).ok()?;
        self.proxy.queue(&conversation);
        Some(verdict.code)
    }

    /// Whether the conversation has been dropped from memory.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.conversation.strong_count() == 0
    }
}
