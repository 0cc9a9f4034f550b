//! The inputs of planning.

use crate::budget::Budget;
use crate::fold::{Fold, FoldJoin, VerdictRecord};
use crate::log::EventLog;
use crate::meter::Meter;
use crate::narrate::AcceptedNarration;
use crate::policy::Policy;
use crate::profile::{ReasoningBinding, VoidReasoning};
use crate::project::Context;
use crate::put_back::PutBack;
use crate::trigger::FoldCause;

/// The inputs of planning. A value, so that further inputs change no signature.
pub struct PlanRequest<'a> {
    /// The log.
    pub log: &'a EventLog,
    /// The active fold; `None` where nothing is folded.
    pub prior: Option<&'a Fold>,
    /// The present context, where the caller has it: `project(log, prior)`. `None` makes planning compute it.
    pub before: Option<Context>,
    /// The policy.
    pub policy: &'a Policy,
    /// The budget.
    pub budget: &'a Budget,
    /// The meter.
    pub meter: Meter,
    /// Events that must stay verbatim; each takes its unit with it.
    pub pins: &'a [u32],
    /// Text that a person or an agent wants kept: the recap gives more room to statements with its words.
    pub focus: Option<&'a str>,
    /// The size in calibrated tokens that somebody asked for. Tail and recap take their shares of it, and the recap
    /// also takes what is left. `None` uses the policy's own target.
    pub target: Option<u64>,
    /// The session, turn and request that the fold's record names.
    pub joining: FoldJoin,
    /// The reason for which a fold is planned.
    pub cause: FoldCause,
    /// A narration that a model wrote of the oldest part of the middle.
    pub narrated: Option<&'a AcceptedNarration>,
    /// Verdicts on the model's replies since the previous fold. The record has them, so that a fold without a narration
    /// says why.
    pub verdicts: &'a [VerdictRecord],
    /// Whether to cover just the narrated span: the fold that a worker prepares.
    pub narrated_only: bool,
    /// The part of the context that signed reasoning is bound to: by the profile, or by what the provider refused.
    pub reasoning: ReasoningBinding,
    /// Reasoning that is void beyond what the active fold says.
    pub void: Option<VoidReasoning>,
    /// Whether user and assistant have to take turns after the fold, where they do in the log.
    pub keeps_turns: bool,
    /// Whether no fold is due yet, and the caller asks which events to narrate ahead of time.
    pub ahead: bool,
    /// A recap that the host wrote; it replaces ours.
    pub recap: Option<&'a str>,
    /// The lines that are put back at the end of the recap.
    pub put_back: Option<&'a PutBack>,
}

impl<'a> PlanRequest<'a> {
    /// A request for a log without folds, narration or pins.
    #[must_use]
    pub fn new(log: &'a EventLog, policy: &'a Policy, budget: &'a Budget, meter: Meter) -> Self {
        Self {
            log,
            prior: None,
            before: None,
            policy,
            budget,
            meter,
            pins: &[],
            focus: None,
            target: None,
            joining: FoldJoin::default(),
            cause: FoldCause::Check,
            narrated: None,
            verdicts: &[],
            narrated_only: false,
            reasoning: log.profile().reasoning,
            void: None,
            keeps_turns: false,
            ahead: false,
            recap: None,
            put_back: None,
        }
    }
}
