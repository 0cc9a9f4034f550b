//! What to plan for.

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

/// What to plan for.
pub struct PlanRequest<'a> {
    /// The log.
    pub log: &'a EventLog,
    /// The active fold.
    pub prior: Option<&'a Fold>,
    /// The context as it stands, where the caller has it: `project(log, prior)`.
    pub before: Option<Context>,
    /// The policy.
    pub policy: &'a Policy,
    /// The budget.
    pub budget: &'a Budget,
    /// The meter.
    pub meter: Meter,
    /// Events that must stay verbatim; each takes its unit with it.
    pub pins: &'a [u32],
    /// What a manual compaction asked to keep.
    pub focus: Option<&'a str>,
    /// What is to be left, in calibrated tokens, where somebody asked for a size: tail and recap take
    /// their shares of it, and the recap takes all that is left. The policy's own target else.
    pub target: Option<u64>,
    /// Joins the fold to a request.
    pub joining: FoldJoin,
    /// Why there should be a fold.
    pub cause: FoldCause,
    /// A narration that a model wrote of the oldest part of the middle.
    pub narrated: Option<&'a AcceptedNarration>,
    /// What became of the model's replies since the fold before: a record says why it stands
    /// without a narration.
    pub verdicts: &'a [VerdictRecord],
    /// Cover the narrated span and nothing more: the fold that a worker prepares.
    pub narrated_only: bool,
    /// What signed reasoning is bound to; as the profile says, where nothing else was learned.
    pub reasoning: ReasoningBinding,
    /// What is void of it beside what the active fold says.
    pub void: Option<VoidReasoning>,
    /// User and assistant keep taking turns, where they do in the log.
    pub keeps_turns: bool,
    /// Nothing is due yet: what would be covered is asked for, so that a model can tell of it in time.
    pub ahead: bool,
    /// A recap that the host wrote: it stands instead of ours.
    pub recap: Option<&'a str>,
    /// The lines that end the recap.
    pub put_back: Option<&'a PutBack>,
}

impl<'a> PlanRequest<'a> {
    /// A plan over a log without folds, narration or pins.
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
