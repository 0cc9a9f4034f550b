//! Signed reasoning that a provider refuses, because something before it is not what it was.

use super::Session;
use crate::fold::Fold;
use crate::profile::ReasoningBinding;
use crate::profile::VoidReasoning;
use crate::project::Context;
use crate::void::voided;

impl Session {
    /// What signed reasoning is bound to: as the profile says, or as the provider did.
    pub(super) fn reasoning(&self) -> ReasoningBinding {
        match self.log.profile().reasoning {
            ReasoningBinding::Free if self.void.is_some() => ReasoningBinding::OpenRound,
            known => known,
        }
    }

    /// Reasoning that is void beside what the active fold says.
    #[must_use]
    pub fn void(&self) -> Option<VoidReasoning> {
        self.void
    }

    /// What is void of reasoning in the context as it is.
    fn void_now(&self) -> VoidReasoning {
        self.active().map(Fold::void).unwrap_or_default().or(self.void)
    }

    /// All reasoning so far is void, where the model binds it at all. Returns whether that is more than was.
    pub(super) fn void_reasoning_so_far(&mut self) -> bool {
        let void = voided(&self.log, self.reasoning());
        let is_more = void.before > self.void_now().before;
        if is_more {
            self.void = Some(void);
        }
        is_more
    }

    /// Whether it is read otherwise than it was sent last, because somebody folded or undid in between:
    /// then its newest reasoning is still bound to what was sent.
    pub(super) fn is_bound_to_what_was_sent(&self) -> bool {
        let active = self.active().map(|fold| fold.id);
        let is_other = self.sent.is_some_and(|sent| sent.fold != active);
        is_other && voided(&self.log, self.reasoning()).before > self.void_now().before
    }

    /// Reasoning that is bound to what was sent is void.
    pub(super) fn rebind(&mut self) {
        if self.is_bound_to_what_was_sent() && self.void_reasoning_so_far() {
            self.set_active(self.active().map(|fold| fold.id));
        }
    }

    /// The provider refused reasoning that is in the context, as bound to something else: it is void from
    /// now on. What is returned is to be sent. Nothing where all of it is void already: then the
    /// provider's error stands.
    pub fn void_reasoning(&mut self) -> Option<Context> {
        let before = self.view().bytes();
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

    /// What a host sends behind the context, as it will be once it is appended: results of a call that is
    /// told as text are text, too.
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

    /// Whether the newest round of the context is told as text: then what answers it is text, too.
    #[must_use]
    pub fn tells_newest_round(&self) -> bool {
        let void = self.void_now();
        let newest = self.log.events().last().map(|event| event.seq);
        void.told_round.is_some() && newest.is_none_or(|newest| newest < void.before)
    }

    /// What folds add keeps user and assistant taking turns, where they do so far: some providers refuse
    /// everything else.
    #[must_use]
    pub fn with_turns_kept(mut self) -> Self {
        self.keeps_turns = true;
        self
    }
}
