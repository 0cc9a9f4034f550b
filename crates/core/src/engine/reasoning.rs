//! Signed reasoning that a provider refuses because something before it has changed.

use super::Session;
use crate::fold::Fold;
use crate::profile::ReasoningBinding;
use crate::profile::VoidReasoning;
use crate::project::Context;
use crate::void::voided;

impl Session {
    /// The part of the context that signed reasoning is bound to, as the profile says. Where the profile says "nothing"
    /// and the provider has refused reasoning all the same, it is the open round.
    pub(super) fn reasoning(&self) -> ReasoningBinding {
        match self.log.profile().reasoning {
            ReasoningBinding::Free if self.void.is_some() => ReasoningBinding::OpenRound,
            known => known,
        }
    }

    /// Reasoning that is void beyond what the active fold says: after an undo, or because the provider refused it.
    #[must_use]
    pub fn void(&self) -> Option<VoidReasoning> {
        self.void
    }

    /// All reasoning that is void in the present context: by the active fold and beyond it.
    fn void_now(&self) -> VoidReasoning {
        self.active().map(Fold::void).unwrap_or_default().or(self.void)
    }

    /// Makes all reasoning so far void, where the model binds it at all. True where some of it was valid before.
    pub(super) fn void_reasoning_so_far(&mut self) -> bool {
        let void = voided(&self.log, self.reasoning());
        let is_more = void.before > self.void_now().before;
        if is_more {
            self.void = Some(void);
        }
        is_more
    }

    /// Whether the context is read through another fold than when it was sent last, because somebody folded or undid in
    /// between. Its newest reasoning is then still bound to the context that was sent.
    pub(super) fn is_bound_to_what_was_sent(&self) -> bool {
        let active = self.active().map(|fold| fold.id);
        let is_other = self.sent.is_some_and(|context| context.fold != active);
        is_other && voided(&self.log, self.reasoning()).before > self.void_now().before
    }

    /// Makes reasoning void that is bound to an earlier form of the context.
    pub(super) fn rebind(&mut self) {
        if self.is_bound_to_what_was_sent() && self.void_reasoning_so_far() {
            self.set_active(self.active().map(|fold| fold.id));
        }
    }

    /// Makes the reasoning in the context void after the provider refused it as bound to other messages. Returns the
    /// context to send next; `None` where that would be the same bytes, so that the provider's error has to be shown.
    pub fn void_reasoning(&mut self) -> Option<Context> {
        let before = self.view().bytes();
        // The refusal proves that reasoning is bound, whatever the profile says.
        let binding = self.reasoning().max(ReasoningBinding::OpenRound);
        self.void = Some(voided(&self.log, binding));
        self.set_active(self.active().map(|fold| fold.id));
        let context = self.view();
        if context.bytes() == before {
            return None;
        }
        self.sent = Some(self.sending());
        Some(context)
    }

    /// The messages that a host sends behind the context, in the form that they get once they are appended: results of
    /// calls that were rewritten as text become text, too.
    #[must_use]
    pub fn behind(&self, messages: impl IntoIterator<Item = bytes::Bytes>) -> Context {
        let (mut log, mut projection) = (self.log.clone(), self.projection.clone());
        let before = projection.context().len();
        for message in messages {
            log.append(crate::event::RawEvent::new(message));
        }
        projection.extend(&log);
        projection.context().behind(before)
    }

    /// Whether the calls of the newest round are rewritten as text: its results must then be text, too.
    #[must_use]
    pub fn tells_newest_round(&self) -> bool {
        let void = self.void_now();
        let newest = self.log.events().last().map(|event| event.seq);
        void.told_round.is_some() && newest.is_none_or(|newest| newest < void.before)
    }

    /// Makes every later fold keep user and assistant taking turns, where they do so far. Some providers refuse
    /// anything else.
    #[must_use]
    pub fn with_turns_kept(mut self) -> Self {
        self.keeps_turns = true;
        self
    }
}
