//! Sends a history again after a refusal that is not about length, put so that the provider takes it.

use super::lock::lock;
use super::shown_rules::ShownRules;
use super::turn::{MatchedRequest, OutgoingRequest};

impl MatchedRequest {
    /// After the provider refused reasoning that does not belong to this history: sends the history without any
    /// reasoning.
    pub(super) fn drop_reasoning(&mut self) -> Option<&OutgoingRequest> {
        if std::mem::replace(&mut self.tried.without_reasoning, true) {
            return None;
        }
        let place = self.place.as_ref()?;
        let mut conversation = lock(&place.conversation);
        let session = &mut conversation.session;
        let before = session.active().map(|fold| fold.id);
        let context = session.void_reasoning()?;
        self.sent.read(&self.request, session, &context, before, &place.newest);
        drop(conversation);
        self.proxy.queue(&place.conversation);
        self.offer();
        Some(&self.sent)
    }

    /// After a refusal that shows a rule of the model: sends the history by it, as the repairs of a context do. From then
    /// on all requests of the conversation are sent so, because the client sends these messages again each time.
    pub(super) fn mend(&mut self, rule: ShownRules) -> Option<&OutgoingRequest> {
        if !self.tried.mended.add(rule) {
            return None;
        }
        let place = self.place.as_ref()?;
        let mut conversation = lock(&place.conversation);
        conversation.shown.add(rule);
        conversation.keep_to_shown();
        let session = &conversation.session;
        let before = session.active().map(|fold| fold.id);
        let refused = self.sent.body.clone();
        self.sent.is_mended = true;
        self.sent.read(&self.request, session, &session.view(), before, &place.newest);
        drop(conversation);
        self.offer();
        (self.sent.body != refused).then_some(&self.sent)
    }
}
