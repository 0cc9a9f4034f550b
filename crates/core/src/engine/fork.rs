//! A session that goes on from an earlier place of another session.

use super::Session;
use super::wish::AgentNote;
use crate::event::Hash;
use crate::fold::Fold;
use crate::profile::VoidReasoning;

impl Session {
    /// A new session over the first `at` events, with the folds that still apply to them. It shares the bytes of those
    /// events; later changes of one session do not reach the other.
    #[must_use]
    pub fn fork(&self, id: &str, at: usize) -> Self {
        let mut fork = Self::over(id, self.log.prefix(at), self.policy.clone(), self.meter);
        // `over` took the policy with the present model's rules laid over it; these are its own ones.
        fork.trigger = self.trigger.clone();
        fork.policy_since = self.policy_since;
        fork.is_answered = self.is_answered;
        fork.keeps_turns = self.keeps_turns;
        fork.cache_lifetime = self.cache_lifetime;
        // A fork has the same host, which wants the same of its folds.
        fork.hooks = self.hooks.clone();
        // Reasoning that became void after event `at` was valid at that place, and is valid again under the folds of
        // that time. An empty `VoidReasoning` in place of `None` keeps the knowledge that this provider binds
        // reasoning.
        fork.void = self
            .void
            .map(|void| if void.before as usize <= at { void } else { VoidReasoning::default() });
        fork.gate.window = self.gate.window;
        fork.gate.learned_window = self.gate.learned_window;
        fork.model.clone_from(&self.model);
        let known =
            |fold: &&Fold| fold.accounts.events as usize <= at && fold.applies_to(&fork.log);
        fork.folds = self.folds.iter().filter(known).cloned().collect();
        // Go back to the newest fold of the active chain that the fork has.
        let mut active = self.active();
        while let Some(fold) = active
            && !fork.folds.iter().any(|known| known.id == fold.id)
        {
            active = fold.prev.and_then(|prev| self.by_id(prev));
        }
        let active = active.map(|fold| fold.id);
        fork.set_active(active);
        // The fork's prefix may never have been sent in this form: then its reasoning is void.
        if !self.was_sent_through(active) && fork.void_reasoning_so_far() {
            fork.set_active(active);
        }
        fork.pins = self.pins.iter().copied().filter(|pin| (*pin as usize) < at).collect();
        // A note may say what only the later messages said, and those are another conversation's from here on. Of a
        // note without a place nobody knows.
        let is_whole = at >= self.log.len();
        let notes = self.agent.notes.iter();
        let known =
            |note: &&AgentNote| !note.is_foreign(&fork.log) && (is_whole || note.read.is_some());
        fork.agent.notes = notes.filter(known).cloned().collect();
        fork
    }

    /// Whether a context read through this fold was sent by this session, now or before; also true before anything was
    /// sent. False for a fold that another process made since the last context.
    fn was_sent_through(&self, fold: Option<Hash>) -> bool {
        let Some(context) = self.sent else { return true };
        let mut through = context.fold;
        while through != fold {
            let Some(newer) = through.and_then(|id| self.by_id(id)) else { return false };
            through = newer.prev;
        }
        true
    }
}
