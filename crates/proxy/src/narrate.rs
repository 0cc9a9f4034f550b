//! What a model could write for a conversation, while its client works on. Asked for by value; who has a
//! model runs it, or does not.

use std::sync::{Arc, Mutex, Weak};

use midfold_core::budget::Budget;
use midfold_core::fold::VerdictCode;
use midfold_core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_store::Millis;

use super::conversation::ProxyConversation;
use super::lock::lock;
use super::shared::Proxy;

/// A conversation whose next fold may have a part that a model wrote.
pub struct NarrationTarget {
    pub(super) proxy: Arc<Proxy>,
    pub(super) conversation: Weak<Mutex<ProxyConversation>>,
    pub(super) budget: Budget,
}

impl NarrationTarget {
    /// What a model should be asked now, if anything. The same span is asked for once.
    #[must_use]
    pub fn wants(&self, now: Millis) -> Option<SummaryRequest> {
        let conversation = self.conversation.upgrade()?;
        lock(&conversation).session.wants(&self.budget, now)
    }

    /// Takes the narration, and judges it line by line: the next fold takes the sound lines. Nothing where the
    /// conversation is gone or has another history by now.
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

    /// Whether nobody has the conversation any more.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.conversation.strong_count() == 0
    }
}
