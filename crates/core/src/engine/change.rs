//! What a host changes on a live session: pins, model, window, policy. Log and folds stay as they are.

use super::{GatherAhead, NarrationQueue, Session};
use crate::budget::{Budget, BudgetError};
use crate::event::Usage;
use crate::fold::Fold;
use crate::plan::GatherMemo;
use crate::policy::{Policy, RecapFallback};
use crate::profile::ProviderProfile;
use crate::trigger::{FoldBreaker, FoldGate, Millis};

impl Session {
    /// Keeps an event, with its unit, out of every later fold.
    pub fn pin(&mut self, seq: u32) {
        if let Err(place) = self.pins.binary_search(&seq) {
            self.pins.insert(place, seq);
        }
    }

    /// Lets a pinned event go. False when it was not pinned.
    pub fn unpin(&mut self, seq: u32) -> bool {
        let found = self.pins.binary_search(&seq);
        found.map(|place| self.pins.remove(place)).is_ok()
    }

    /// The policy changed: it holds from the next fold on, and stays with the session. What is folded
    /// stays as it is; each record has the fingerprint of the policy that it was made by.
    ///
    /// # Errors
    /// When its reserve leaves nothing of the budget; then nothing has changed.
    pub fn set_policy(&mut self, policy: Policy, budget: &Budget) -> Result<(), BudgetError> {
        self.gate.budget(budget, &policy).check()?;
        self.policy_since = Some(u32::try_from(self.log.len()).unwrap_or(u32::MAX));
        self.follow(policy);
        // What another policy found too little to gain, and which tools it knew, says nothing now.
        self.gate.declined = None;
        self.gathered = GatherMemo::default();
        self.ahead = GatherAhead::default();
        Ok(())
    }

    /// Folding starts at this many tokens, where no other rule of the policy says that it starts before. Of
    /// what was found out about the log, all holds.
    pub fn set_floor(&mut self, tokens: u64) {
        self.trigger.floor_tokens = tokens;
        self.policy.trigger.floor_tokens = tokens;
        self.gate.declined = None;
    }

    /// How long the provider keeps a prompt in its cache after it was used, in milliseconds. After a longer pause a
    /// context above the buffer line ([`TriggerPolicy::buffer_tokens`](crate::policy::TriggerPolicy::buffer_tokens))
    /// is folded before it is sent: the whole prompt is paid for anew, folded or not. Without one (the state at the
    /// start) a pause means nothing.
    pub fn set_cache_lifetime(&mut self, lifetime: Option<Millis>) {
        self.cache_lifetime = lifetime;
    }

    pub(super) fn follow(&mut self, policy: Policy) {
        self.trigger = policy.trigger.clone();
        self.policy = policy;
        self.policy.trigger = self.trigger.for_model(&self.model);
    }

    /// The rules of what is valid are these from now on: those of another model.
    pub fn set_profile(&mut self, profile: ProviderProfile) {
        if profile != *self.log.profile() {
            self.log = self.log.under(profile);
            self.set_active(self.active().map(|fold| fold.id));
        }
    }

    /// What travels beside the messages (system prompt, tools) is this from now on: it is counted, and
    /// never folded.
    pub fn set_envelope<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) {
        let before = self.log.envelope_tokens();
        self.log.set_envelope(parts);
        if self.log.envelope_tokens() != before {
            self.set_active(self.active().map(|fold| fold.id));
        }
    }

    /// The host sends the answers to the newest calls behind the context, before they are appended: an
    /// open call holds no fold back.
    #[must_use]
    pub fn with_answers_behind(mut self) -> Self {
        self.is_answered = true;
        self
    }

    /// The window is this one from now on, whatever window `budget` has.
    ///
    /// # Errors
    /// When nothing of it is left beside the reserves of the budget; then nothing has changed.
    pub fn set_window(&mut self, window: u64, budget: &Budget) -> Result<(), BudgetError> {
        let gate =
            FoldGate { window: Some(window), learned_window: None, declined: None, ..self.gate };
        gate.budget(budget, &self.policy).check()?;
        self.gate = gate;
        Ok(())
    }

    /// The model changed: its own trigger rules hold from now on, and what was learned of the
    /// other one's counting and limits is forgotten.
    pub fn update_model(&mut self, model: &str) {
        model.clone_into(&mut self.model);
        self.policy.trigger = self.trigger.for_model(model);
        self.meter.unseen = 0;
        self.gate.learned_window = None;
        self.gate.breaker = FoldBreaker::default();
        self.gate.declined = None;
        self.settled = None;
    }

    /// Forgets what was learned and what is under way; log, folds and pins stay.
    pub fn reset(&mut self) {
        self.gate = FoldGate { window: self.gate.window, ..FoldGate::default() };
        self.usage = Usage::default();
        self.sent = None;
        self.settled = None;
        self.meter.unseen = 0;
        self.narration = NarrationQueue::default();
        self.uncounted = self.folds.len();
    }

    /// What of a context a fold could move. Policies that do what others do fold when those do: of theirs it
    /// is nothing.
    pub(super) fn movable(&self, fold: &Fold) -> u64 {
        match self.policy.recap.fallback {
            RecapFallback::Computed => fold.tokens_before.saturating_sub(fold.head_tokens),
            _ => 0,
        }
    }
}
