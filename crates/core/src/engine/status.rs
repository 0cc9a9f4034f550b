//! The figures of a session: for people, for hosts that read an engine's attributes, and for a store that keeps them
//! over a restart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AgentWishes, NarrationQueue, SentContext, Session};
use crate::budget::{Budget, Ratio};
use crate::event::{Hash, Usage};
use crate::fill::{ContextFill, FillSource, PresentContext};
use crate::fold_standing::{RecordedRequests, in_force, standings};
use crate::meter::Meter;
use crate::policy::{EngineName, Policy};
use crate::profile::VoidReasoning;
use crate::spending::{FoldedPrompt, SessionSpending, SpentPrompt};
use crate::trigger::{FoldDue, FoldGate, HoldReason, Millis, TriggerLine};

/// The figures of a session: `status` in `midfold session status --json` and in the HTTP API.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionStatus {
    /// The id of the session.
    pub session: String,
    /// The engine: `midfold` or `passthrough`.
    pub engine: &'static str,
    /// The model that the contexts go to; empty if none was named.
    pub model: String,
    /// The name of the policy.
    pub policy: String,
    /// The fingerprint of the policy, as in the records of folds.
    pub policy_fingerprint: Hash,
    /// The number of events in the log when the policy was changed; left out if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_since: Option<u32>,
    /// The number of events in the log.
    pub events: u64,
    /// The number of messages in the context.
    pub messages: u64,
    /// Counted tokens of the whole log.
    pub log_tokens: u64,
    /// Tokens of the context with what travels beside it, in the provider's tokens.
    pub context_tokens: u64,
    /// The source of `context_tokens`.
    pub context_source: FillSource,
    /// The model's window in tokens, as far as the provider revealed it.
    pub context_length: u64,
    /// The tokens that a context may take: the window without its reserves.
    pub budget_tokens: u64,
    /// The line in tokens at which folding starts, with the rule that sets it.
    pub threshold: TriggerLine,
    /// The policy's threshold, as a share of the budget.
    pub threshold_percent: Ratio,
    /// The number of messages that the policy keeps at the front, beside those that its head rule finds.
    pub protect_first_n: u64,
    /// The fewest messages at the end that the policy leaves unchanged: the larger of its tail and of what its reducers
    /// may not touch (Hermes Agent: 6).
    pub protect_last_n: u64,
    /// The percentage of the window that `context_tokens` take.
    pub context_percent: u64,
    /// The percentage of the window that the last prompt took, as the provider counted it (Hermes Agent).
    pub usage_percent: f64,
    /// `threshold.tokens`, under Hermes Agent's name.
    pub threshold_tokens: u64,
    /// Whether a fold is due, and what holds it back if not.
    pub due: FoldDue,
    /// Tokens of the last prompt, as the provider counted them.
    pub last_prompt_tokens: u64,
    /// Tokens of the last reply, as the provider counted them.
    pub last_completion_tokens: u64,
    /// The sum of both.
    pub last_total_tokens: u64,
    /// The number of folds that were in force.
    pub compaction_count: u64,
    /// The number of folds in force since the last reset, under Hermes Agent's name.
    pub compression_count: u64,
    /// The id of the active fold; left out if nothing is folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_fold: Option<Hash>,
    /// The numbers of the pinned events.
    pub pins: Vec<u32>,
    /// The number of the last folds in a row that freed too little.
    pub strikes: u8,
    /// Seconds until a model may be asked for a narration again.
    pub cooldown_seconds: u64,
    /// Whether a narration is being written.
    pub narration_asked: bool,
    /// Whether a narration is ready for the next fold.
    pub narration_ready: bool,
    /// The meter, which turns counted tokens into the provider's tokens.
    pub meter: Meter,
}

/// A policy that replaced the one that a session was made with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewPolicy {
    /// The policy, with its own trigger rules and not those of a model.
    pub policy: Policy,
    /// The number of events in the log when it was set.
    pub since: u32,
}

/// All of a session except log and folds: small, and enough to go on after a restart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The model.
    pub model: String,
    /// The policy; `None` where the session still has the one that it was made with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<NewPolicy>>,
    /// The meter; `None` in a session that has none yet.
    pub meter: Option<Meter>,
    /// The state of the trigger: breaker, cooldown and holds.
    pub gate: FoldGate,
    /// Pinned events.
    pub pins: Vec<u32>,
    /// The wishes of the agent.
    #[serde(skip_serializing_if = "AgentWishes::is_silent")]
    pub agent: AgentWishes,
    /// The usage that the provider reported last.
    pub usage: Usage,
    /// The tokens that all requests cost.
    #[serde(skip_serializing_if = "SessionSpending::is_nothing")]
    pub spent: SessionSpending,
    /// How many requests were passed on unchanged although they did not fit, by the name of the cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<String, u64>,
    /// The last sent context.
    pub sent: Option<SentContext>,
    /// The last context whose cost is known, with the provider's count of its prompt tokens.
    pub settled: Option<(SentContext, u64)>,
    /// Reasoning that is void beyond what the folds say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidReasoning>,
    /// The narrations that are asked for or ready.
    pub narration: NarrationQueue,
    /// The number of folds before the last reset.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncounted: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Hermes Agent's `min(100, last_prompt_tokens / context_length * 100)`; 0 without a window.
#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn percent(prompt: u64, window: u64) -> f64 {
    if window == 0 { 0.0 } else { (prompt as f64 / window as f64 * 100.0).min(100.0) }
}

impl Session {
    /// Tokens of the events since the last count by the provider, in midfold's own count; all of them where it has counted
    /// nothing.
    #[must_use]
    pub fn tokens_since_count(&self) -> u64 {
        let counted = self.settled.map_or(0, |(context, _)| context.events as usize);
        self.log.tokens_in(counted..self.log.len())
    }

    /// The figures of the session, for callers without its recorded requests. Which folds were in force is then known
    /// only from the context that was sent last.
    #[must_use]
    pub fn status(&self, budget: &Budget, now: Millis) -> SessionStatus {
        let known = RecordedRequests::through(self.sent.and_then(|context| context.fold));
        self.status_beside(budget, now, &known)
    }

    /// As [`Session::status`], where all requests are known: they say which folds were in force.
    #[must_use]
    pub fn status_beside(
        &self,
        budget: &Budget,
        now: Millis,
        requests: &RecordedRequests,
    ) -> SessionStatus {
        let stand = standings(&self.folds, self.active().map(|fold| fold.id), requests);
        let budget = self.gate.budget(budget, &self.policy);
        let load = self.load_at(&budget, now);
        let fill = self.fill(budget.window);
        let ready = self.narration.accepted();
        SessionStatus {
            session: self.id.clone(),
            engine: match self.policy.engine {
                EngineName::Passthrough => "passthrough",
                _ => "midfold",
            },
            model: self.model.clone(),
            policy: self.policy.name.clone(),
            policy_fingerprint: self.policy.fingerprint(),
            policy_since: self.policy_since,
            events: self.log.len() as u64,
            messages: self.view().len() as u64,
            log_tokens: self.log.tokens(),
            context_tokens: fill.tokens,
            context_source: fill.source,
            context_length: fill.window,
            budget_tokens: budget.tokens(),
            threshold: self.policy.trigger.line(budget.tokens()),
            threshold_percent: self.policy.trigger.threshold,
            protect_first_n: self.policy.head.messages as u64,
            protect_last_n: self.policy.tail.protected() as u64,
            context_percent: fill.percent().unwrap_or(0),
            usage_percent: percent(self.usage.prompt, budget.window),
            threshold_tokens: self.policy.trigger.line(budget.tokens()).tokens,
            due: match self.policy.engine {
                EngineName::Passthrough => FoldDue::Held(HoldReason::Off),
                _ => self.due_by(&budget, load, now),
            },
            last_prompt_tokens: self.usage.prompt,
            last_completion_tokens: self.usage.output,
            last_total_tokens: self.usage.prompt.saturating_add(self.usage.output),
            compaction_count: in_force(&stand),
            compression_count: in_force(&stand[self.uncounted.min(stand.len())..]),
            active_fold: self.active().map(|fold| fold.id),
            pins: self.pins.clone(),
            strikes: self.gate.breaker.strikes,
            cooldown_seconds: self.gate.cooldown.left(now).div_ceil(1_000),
            narration_asked: self.narration.open().is_some(),
            narration_ready: ready.is_some(),
            meter: self.meter,
        }
    }

    /// How full a window of so many tokens is.
    #[must_use]
    pub fn fill(&self, window: u64) -> ContextFill {
        let SentContext { counted, events, fold, .. } = self.sending();
        let settled = self.settled.filter(|(context, _)| context.fold == fold);
        let newer = settled.map_or(0, |(context, _)| self.tokens_since(context.events));
        let now = PresentContext { events: events.into(), counted, newer };
        ContextFill::of(settled, &now, &self.meter, window)
    }

    /// Adds a request to what was spent: the provider's usage, and the prompt's shape if that is known.
    pub fn spend(&mut self, usage: Usage, prompt: Option<SpentPrompt>) {
        self.spent.add(usage, prompt);
    }

    /// The shape of a request that was read through `fold`. Without the fold it has `whole` tokens, with it `counted`, both
    /// in midfold's own count.
    #[must_use]
    pub fn prompt_of(
        &self,
        fold: Option<Hash>,
        whole: u64,
        counted: u64,
        at: Millis,
    ) -> SpentPrompt {
        let folded = fold.and_then(|id| self.by_id(id)).map(|fold| FoldedPrompt {
            fold: fold.id,
            head: fold.head_tokens,
            left_out: whole.saturating_sub(counted),
        });
        let (ratio, lifetime) = (self.meter.ratio, self.cache_lifetime);
        SpentPrompt { counted: whole, ratio, folded, is_own: false, at, lifetime }
    }

    /// The shape of the request that was sent last, if it has `whole` tokens with every message in midfold's own count.
    #[must_use]
    pub fn last_prompt(&self, whole: u64, at: Millis) -> SpentPrompt {
        let context = self.sent.unwrap_or_else(|| self.sending());
        self.prompt_of(context.fold, whole, context.counted, at)
    }

    /// Takes over what was spent before this session had a log.
    pub fn take_spent(&mut self, spent: SessionSpending) {
        self.spent = spent;
    }

    /// The tokens spent so far.
    #[must_use]
    pub fn spent(&self) -> SessionSpending {
        self.spent
    }

    /// Counts a request that was passed on unchanged although it did not fit, under the name of the cause.
    pub fn note_fault(&mut self, cause: &str) {
        *self.faults.entry(cause.to_owned()).or_default() += 1;
    }

    /// The narration that is under way or ready.
    #[must_use]
    pub fn narration(&self) -> &NarrationQueue {
        &self.narration
    }

    /// What a store keeps beside log and folds.
    #[must_use]
    pub fn state(&self) -> SessionState {
        SessionState {
            model: self.model.clone(),
            policy: self.policy_since.map(|since| {
                // With the policy's own trigger: the rules of the model are laid over it again when the state is
                // restored.
                let policy = Policy { trigger: self.trigger.clone(), ..self.policy.clone() };
                Box::new(NewPolicy { policy, since })
            }),
            meter: Some(self.meter),
            gate: self.gate,
            pins: self.pins.clone(),
            agent: self.agent.clone(),
            usage: self.usage,
            spent: self.spent,
            faults: self.faults.clone(),
            sent: self.sent,
            settled: self.settled,
            void: self.void,
            narration: self.narration.clone(),
            uncounted: self.uncounted,
        }
    }

    /// Restores the state that a store kept.
    #[must_use]
    pub fn with_state(mut self, state: SessionState) -> Self {
        self.set_state(state);
        self
    }

    /// As [`Session::with_state`], in place.
    pub fn set_state(&mut self, state: SessionState) {
        if let Some(changed) = state.policy {
            self.policy_since = Some(changed.since);
            self.follow(changed.policy);
        }
        // Before meter and gate are restored, because a new model resets parts of them.
        if !state.model.is_empty() {
            self.update_model(&state.model);
        }
        self.meter = state.meter.unwrap_or(self.meter);
        self.gate = state.gate;
        self.pins = state.pins;
        self.agent = state.agent;
        self.usage = state.usage;
        self.spent = state.spent;
        self.faults = state.faults;
        self.sent = state.sent;
        self.settled = state.settled;
        if state.void != self.void {
            self.void = state.void;
            self.set_active(self.active().map(|fold| fold.id));
        }
        self.narration = state.narration;
        self.uncounted = state.uncounted;
    }
}
