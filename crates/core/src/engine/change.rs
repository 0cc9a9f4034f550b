//! What a host may change on a live session: pins, model, window, policy. Log and folds stay as they are.

use super::{GatherAhead, NarrationQueue, Session};
use crate::budget::{Budget, BudgetError};
use crate::event::Usage;
use crate::fold::Fold;
use crate::meter::Meter;
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

    /// Removes a pin. False when the event was not pinned.
    pub fn unpin(&mut self, seq: u32) -> bool {
        let place = self.pins.binary_search(&seq);
        place.map(|place| self.pins.remove(place)).is_ok()
    }

    /// Sets the policy that holds from the next fold on; it is stored with the session. Folds that were made stay as
    /// they are: each record has the fingerprint of the policy that it was made by.
    ///
    /// # Errors
    /// When its reserve leaves nothing of the budget; then nothing is changed.
    pub fn set_policy(&mut self, policy: Policy, budget: &Budget) -> Result<(), BudgetError> {
        self.gate.budget(budget, &policy).check()?;
        self.policy_since = Some(u32::try_from(self.log.len()).unwrap_or(u32::MAX));
        self.follow(policy);
        // These were found out under the old policy: too small a gain, gathered statements and the tools it knew.
        self.gate.declined = None;
        self.gathered = GatherMemo::default();
        self.ahead = GatherAhead::default();
        Ok(())
    }

    /// Sets the number of tokens at which folding starts, unless another rule of the policy starts it earlier. Nothing
    /// that was gathered from the log is discarded, since this does not change what a fold covers.
    pub fn set_floor(&mut self, tokens: u64) {
        // In both: a later model's rules are laid over `trigger`, and `policy.trigger` is in force now.
        self.trigger.floor_tokens = tokens;
        self.policy.trigger.floor_tokens = tokens;
        self.gate.declined = None;
    }

    /// Sets how long the provider keeps a prompt in its cache after the last use, in milliseconds. After a longer pause
    /// the whole prompt is paid for anew, folded or not, so a context above the buffer line
    /// ([`TriggerPolicy::buffer_tokens`](crate::policy::TriggerPolicy::buffer_tokens)) is folded before it is sent.
    /// `None`, the default, gives pauses no effect.
    pub fn set_cache_lifetime(&mut self, lifetime: Option<Millis>) {
        self.cache_lifetime = lifetime;
    }

    /// Sets the policy, with the trigger rules of the present model laid over its own.
    pub(super) fn follow(&mut self, policy: Policy) {
        self.trigger = policy.trigger.clone();
        self.policy = policy;
        self.policy.trigger = self.trigger.for_model(&self.model);
    }

    /// Sets the validity rules from now on: those of another model or provider.
    pub fn set_profile(&mut self, profile: ProviderProfile) {
        if profile != *self.log.profile() {
            self.log = self.log.under(profile);
            self.set_active(self.active().map(|fold| fold.id));
        }
    }

    /// Sets the envelope (system prompt and tools) from now on. It is counted and never folded.
    pub fn set_envelope<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) {
        let before = self.log.envelope_tokens();
        self.log.set_envelope(parts);
        if self.log.envelope_tokens() != before {
            self.set_active(self.active().map(|fold| fold.id));
        }
    }

    /// States that the host sends the answers to the newest calls behind the context, before they are appended. So an
    /// open call holds no fold back.
    #[must_use]
    pub fn with_answers_behind(mut self) -> Self {
        self.is_answered = true;
        self
    }

    /// Sets the window in tokens; from now on it replaces the window of each `budget`.
    ///
    /// # Errors
    /// When the reserves of the budget leave nothing of it; then nothing is changed.
    pub fn set_window(&mut self, window: u64, budget: &Budget) -> Result<(), BudgetError> {
        // A host that names a window knows more than an earlier refusal.
        let gate =
            FoldGate { window: Some(window), learned_window: None, declined: None, ..self.gate };
        gate.budget(budget, &self.policy).check()?;
        self.gate = gate;
        Ok(())
    }

    /// Sets the model. Its own trigger rules hold from now on, and the other model's limits are forgotten. The ratio of
    /// the other model's counts to midfold's own stays until the new model has counted, as the best guess there is.
    pub fn update_model(&mut self, model: &str) {
        model.clone_into(&mut self.model);
        self.policy.trigger = self.trigger.for_model(model);
        self.meter.unseen = 0;
        self.gate.learned_window = None;
        self.gate.breaker = FoldBreaker::default();
        self.gate.declined = None;
        // The last count is the other model's, so growth since then would teach a wrong ratio.
        self.settled = None;
    }

    /// Forgets the window that an earlier refusal taught: the server may have another one now.
    pub fn forget_learned_window(&mut self) {
        self.gate.learned_window = None;
    }

    /// Forgets what the provider's counts taught: some of them were no counts of what was sent.
    pub fn forget_counts(&mut self, meter: Meter) {
        self.meter = meter;
        self.settled = None;
    }

    /// Forgets what was learned and any narration under way. Log, folds, pins and the window that a host set stay.
    pub fn reset(&mut self) {
        self.gate = FoldGate { window: self.gate.window, ..FoldGate::default() };
        self.usage = Usage::default();
        self.sent = None;
        self.settled = None;
        self.meter.unseen = 0;
        self.narration = NarrationQueue::default();
        self.uncounted = self.folds.len();
    }

    /// Tokens of the context before a fold that the fold could have moved. Zero for policies that imitate another tool:
    /// those fold when that tool does, so no gain is judged.
    pub(super) fn movable(&self, fold: &Fold) -> u64 {
        match self.policy.recap.fallback {
            RecapFallback::Computed => fold.tokens_before.saturating_sub(fold.head_tokens),
            _ => 0,
        }
    }
}
