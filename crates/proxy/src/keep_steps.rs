//! Keeps the last step of each conversation. It becomes history with the client's next request; where the client has
//! ended there is no such request, and the step is appended as it was.

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::DialectKind;
use midfold_formats::request::identity;

use super::conversation::ProxyConversation;
use super::last_step::LastStep;
use super::lock::lock;
use super::shared::Proxy;
use super::turn::MatchedRequest;

impl Proxy {
    /// Appends the last step of each conversation, which is kept by [`ProxyRules::with_last_steps`]. Call it when no more
    /// requests come, and save afterwards: a client that goes on with other messages would begin a branch.
    ///
    /// [`ProxyRules::with_last_steps`]: crate::ProxyRules::with_last_steps
    pub fn append_last_steps(&self) {
        let conversations = lock(&self.index).conversations();
        for conversation in conversations {
            if lock(&conversation).append_last_step() {
                self.queue(&conversation);
            }
        }
    }

    /// Notes the last step of a conversation, which the caller has locked.
    pub(super) fn note_step(
        conversation: &mut ProxyConversation,
        kind: DialectKind,
        step: Vec<Bytes>,
        output: &[Bytes],
    ) {
        // Copied, because a slice would keep the whole answer in memory.
        let answer = output.iter().map(|item| Bytes::copy_from_slice(item));
        let messages = step.into_iter().chain(answer).collect();
        conversation.last_step =
            Some(LastStep { kind, events: conversation.session.log().len(), messages });
    }
}

impl MatchedRequest {
    /// Whether its answer has to be read because it may be the last one of its conversation.
    #[must_use]
    pub fn keeps_step(&self) -> bool {
        self.proxy.keeps_steps && self.place.as_ref().is_some_and(|place| !place.is_aside)
    }

    /// The messages behind the history, if they may belong to the last step.
    pub(super) fn step(&self) -> Option<Vec<Bytes>> {
        let place = self.place.as_ref().filter(|_| self.keeps_step())?;
        let behind = place.newest.history_len()..self.request.len();
        // Copied, because a slice would keep the whole request in memory.
        Some(behind.map(|at| Bytes::copy_from_slice(&self.request.message(at))).collect())
    }
}

impl ProxyConversation {
    /// Appends the last step, unless a later request has brought it. Returns whether it did.
    fn append_last_step(&mut self) -> bool {
        let events = self.chain().len();
        let is_next = |step: &LastStep| step.events == events;
        let Some(LastStep { kind, messages, .. }) = self.last_step.take().filter(is_next) else {
            return false;
        };
        for message in &messages {
            let before = self.chain().last().copied().unwrap_or(Hash::ROOT);
            self.push(kind, message, before.chain(&identity(kind, message).0));
        }
        true
    }
}
