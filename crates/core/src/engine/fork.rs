//! A session that goes on from an earlier place of another one.

use super::Session;
use crate::event::Hash;
use crate::fold::Fold;
use crate::profile::VoidReasoning;

impl Session {
    /// A session of its own over the first `at` events, with the folds that still apply. Shares
    /// bytes with this one; neither sees what happens to the other.
    #[must_use]
    pub fn fork(&self, id: &str, at: usize) -> Self {
        let mut fork = Self::over(id, self.log.prefix(at), self.policy.clone(), self.meter);
        fork.trigger = self.trigger.clone();
        fork.policy_since = self.policy_since;
        fork.is_answered = self.is_answered;
        fork.keeps_turns = self.keeps_turns;
        fork.cache_lifetime = self.cache_lifetime;
        // The host of both is the same.
        fork.hooks = self.hooks.clone();
        // What became void after the place was valid there, and is again under the folds of then. That reasoning
        // is bound at all stays known.
        fork.void = self
            .void
            .map(|void| if void.before as usize <= at { void } else { VoidReasoning::default() });
        fork.gate.window = self.gate.window;
        fork.gate.learned_window = self.gate.learned_window;
        fork.model.clone_from(&self.model);
        let known =
            |fold: &&Fold| fold.accounts.events as usize <= at && fold.applies_to(&fork.log);
        fork.folds = self.folds.iter().filter(known).cloned().collect();
        let mut active = self.active();
        while let Some(fold) = active
            && !fork.folds.iter().any(|known| known.id == fold.id)
        {
            active = fold.prev.and_then(|prev| self.by_id(prev));
        }
        let active = active.map(|fold| fold.id);
        fork.set_active(active);
        if !self.was_sent_through(active) && fork.void_reasoning_so_far() {
            fork.set_active(active);
        }
        fork.pins = self.pins.iter().copied().filter(|pin| (*pin as usize) < at).collect();
        // Nobody knows which of the notes were made before the place: a reminder too many does less harm.
        fork.agent.notes.clone_from(&self.agent.notes);
        fork
    }

    /// Whether what is read through this fold was sent so, now or before: a fold that somebody else made since then
    /// was not.
    fn was_sent_through(&self, fold: Option<Hash>) -> bool {
        let Some(sent) = self.sent else { return true };
        let mut through = sent.fold;
        while through != fold {
            let Some(newer) = through.and_then(|id| self.by_id(id)) else { return false };
            through = newer.prev;
        }
        true
    }
}
