//! Planning: the only door for policy and meter. Deterministic: integers only, ties broken by
//! position.

mod draft;
mod record;

pub(crate) use self::draft::Memo;
pub use crate::trigger::Cause;

use crate::budget::{Budget, BudgetError};
use crate::fold::{Fold, Joining, VerdictRecord};
use crate::log::Log;
use crate::meter::Meter;
use crate::narrate::Narrated;
use crate::policy::Policy;
use crate::project::{Context, Projection, project};

/// What to plan for.
pub struct Plan<'a> {
    /// The log.
    pub log: &'a Log,
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
    /// Joins the fold to a request.
    pub joining: Joining,
    /// Why there should be a fold.
    pub cause: Cause,
    /// A narration that a model wrote of the oldest part of the middle.
    pub narrated: Option<&'a Narrated>,
    /// What became of the model's replies since the fold before: a record says why it stands
    /// without a narration.
    pub verdicts: &'a [VerdictRecord],
    /// Cover the narrated span and nothing more: the fold that a worker prepares.
    pub narrated_only: bool,
    /// A recap that the host wrote: it stands instead of ours.
    pub recap: Option<&'a str>,
}

impl<'a> Plan<'a> {
    /// A plan over a log without folds, narration or pins.
    #[must_use]
    pub fn new(log: &'a Log, policy: &'a Policy, budget: &'a Budget, meter: Meter) -> Self {
        Self {
            log,
            prior: None,
            before: None,
            policy,
            budget,
            meter,
            pins: &[],
            focus: None,
            joining: Joining::default(),
            cause: Cause::Check,
            narrated: None,
            verdicts: &[],
            narrated_only: false,
            recap: None,
        }
    }
}

/// What planning came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A fold.
    Folded(Box<Fold>),
    /// Nothing to do, and why.
    Nothing(NoOp),
}

/// Why no fold was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOp {
    /// The trigger did not fire.
    #[error("{tokens} tokens are below the threshold of {threshold}")]
    UnderThreshold {
        /// Calibrated tokens.
        tokens: u64,
        /// The threshold.
        threshold: u64,
    },
    /// A hook said no.
    #[error("a hook of the host did not want it")]
    Cancelled,
    /// Nothing came after the last fold.
    #[error("nothing new since the last compaction")]
    NothingNew,
    /// The context was compacted and is still at its target.
    #[error("already compacted: {tokens} tokens are at or below the target of {target}")]
    AtTarget {
        /// Counted tokens.
        tokens: u64,
        /// The target.
        target: u64,
    },
    /// The policy leaves conversations of this length alone.
    #[error("{messages} messages are too few to compact (the policy asks for more than {floor})")]
    TooFewMessages {
        /// Messages.
        messages: usize,
        /// The policy's floor.
        floor: usize,
    },
    /// Head and tail are everything.
    #[error("the whole conversation fits within the protected head and tail")]
    FullyProtected,
    /// A fold would free too little.
    #[error(
        "folding would free {freed} tokens, less than the {needed} that make it worth a cache break"
    )]
    NoGain {
        /// Tokens that it would free.
        freed: u64,
        /// Tokens that it has to free.
        needed: u64,
    },
}

/// Why no context can be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The budget itself is unusable.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// What may not be folded is larger than the budget.
    #[error(transparent)]
    Floor(#[from] FloorError),
    /// The context does not fit, and the policy does not let it be folded.
    #[error(
        "{tokens} tokens do not fit into the budget of {limit}, and folding is switched off \
         (trigger.on = false): compact by hand, or switch it on"
    )]
    Off {
        /// Upper estimate of the context.
        tokens: u64,
        /// The budget.
        limit: u64,
    },
}

/// The floor that cannot be folded.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error(
    "the parts that may not be folded need {needed} tokens and the budget is {limit}: \
     system prompt and tools {envelope}, head {head}, pinned {pinned}, newest step {newest}, recap {recap}, \
     beside them {beside}"
)]
pub struct FloorError {
    /// The budget, in counted tokens.
    pub limit: u64,
    /// What is needed at least.
    pub needed: u64,
    /// Tokens of the envelope.
    pub envelope: u64,
    /// Tokens of the head.
    pub head: u64,
    /// Tokens of pins.
    pub pinned: u64,
    /// Tokens of the newest unit.
    pub newest: u64,
    /// Tokens of the recap.
    pub recap: u64,
    /// Tokens of the rest: messages that the policy can only shorten, and what is added so that
    /// the provider takes the context.
    pub beside: u64,
}

/// Windows that are tried before none is named in an error.
const TRIES: usize = 12;

impl FloorError {
    /// What the floor is made of, in words, with the tokens of each: the largest first, what is
    /// not there left out.
    #[must_use]
    pub fn parts(&self) -> Vec<(&'static str, u64)> {
        let mut parts = vec![
            ("system prompt and tools beside the messages", self.envelope),
            ("the head (system messages, first task)", self.head),
            ("messages that stay (pins, the last request)", self.pinned),
            ("the newest step", self.newest),
            ("the recap", self.recap),
            ("what this policy only shortens, and repairs", self.beside),
        ];
        parts.retain(|(_, tokens)| *tokens > 0);
        parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        parts
    }

    /// A window in tokens, above `window`, that is known to do, because `fold` was tried with it;
    /// `None` where no try succeeds. In hundreds; not always the smallest that would do.
    pub fn enough(
        &self,
        policy: &Policy,
        meter: Meter,
        window: u64,
        fold: impl Fn(u64) -> Result<Outcome, PlanError>,
    ) -> Option<u64> {
        let meter = meter.with_margin(policy.trigger.margin);
        let reserve = policy.trigger.injection_reserve;
        let rounded = |tokens| (meter.upper(tokens) + reserve).div_ceil(100) * 100;
        let mut next = rounded(self.needed).max(window + 1);
        for _ in 0..TRIES {
            next = match fold(next) {
                Ok(_) => return Some(next),
                Err(PlanError::Floor(floor)) => {
                    rounded(floor.needed).max(next + next / 10).div_ceil(100) * 100
                }
                Err(PlanError::Budget(_) | PlanError::Off { .. }) => next * 2,
            };
        }
        None
    }
}

/// The budget in the counter's own tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// `budget.tokens`, counted.
    pub budget: u64,
    /// The most a context may count: its upper estimate is then within the budget.
    pub limit: u64,
}

impl Scale {
    fn new(tokens: u64, meter: &Meter) -> Self {
        let ratio = u128::from(meter.ratio.0.max(1));
        let known = u128::from(tokens.saturating_sub(meter.unseen));
        let budget = u64::try_from(known * 10_000 / ratio).unwrap_or(u64::MAX);
        Self { budget, limit: meter.most(tokens) }
    }
}

/// How often tail and recap are shortened before planning gives up. Each round takes off what was
/// over; the tail moves by whole units, so a few rounds are needed.
const ROUNDS: usize = 12;

/// Plans a fold.
///
/// # Errors
/// When the budget is unusable, or what may not be folded is larger than it.
pub fn plan(request: &Plan<'_>) -> Result<Outcome, PlanError> {
    plan_from(request, None, &mut Memo::default()).map(|(outcome, _)| outcome)
}

/// The same, with the projection of the log without a fold, where the caller has it, and what was
/// gathered for the fold before: neither is made twice. The outcome does not depend on them. With a
/// fold comes the context that it makes.
pub(crate) fn plan_from(
    request: &Plan<'_>,
    base: Option<&Projection>,
    memo: &mut Memo,
) -> Result<(Outcome, Option<Context>), PlanError> {
    let nothing = |reason| Ok((Outcome::Nothing(reason), None));
    let policy = request.policy;
    let mut budget = request.budget.clone();
    budget.injection_reserve = budget.injection_reserve.max(policy.trigger.injection_reserve);
    budget.check()?;
    let meter = request.meter.with_margin(policy.trigger.margin);
    let scale = Scale::new(budget.tokens(), &meter);
    let before = request.before.clone().unwrap_or_else(|| project(request.log, request.prior));
    if let Some(reason) = veto(request, &budget, &meter, scale, before.tokens()) {
        return nothing(reason);
    }
    if let Some((fold, after)) = narrated_span(request, &budget, meter, scale, &before, memo) {
        return Ok((judge(request, scale, fold), Some(after)));
    }
    if request.narrated_only {
        return nothing(NoOp::FullyProtected);
    }
    let mut limits = Limits::default();
    for _ in 0..ROUNDS {
        let Some(draft) = draft::draft(request, scale, before.tokens(), limits, memo) else {
            // Nothing between head and tail: shorten the tail, if the budget asks for it.
            if before.tokens() <= scale.limit {
                return nothing(NoOp::FullyProtected);
            }
            let head = request.log.envelope_tokens() + draft::head_tokens(request, scale);
            if !limits.shorten_tail(scale.limit.saturating_sub(head) * 3 / 4) {
                break;
            }
            continue;
        };
        // A first fold in which all stays as it is frees nothing, unless it voids reasoning.
        if request.prior.is_none()
            && draft.changes_nothing()
            && !request.log.profile().reasoning_bound
            && let Some(reason) = no_gain(request, scale, before.tokens(), before.tokens())
        {
            return nothing(reason);
        }
        let (tail, recap, shortest) =
            (draft.tail_tokens, draft.recap_room(request), draft.tail_is_newest);
        let (target, more) = (draft.target, draft.can_cover_more(request.policy));
        let (fold, after) = record::record(request, &budget, meter, &before, base, draft);
        if fold.tokens_after <= scale.limit {
            return Ok((judge(request, scale, fold), Some(after)));
        }
        let over = fold.tokens_after - scale.limit;
        if more && target > over {
            limits.target = Some(target - over);
            continue;
        }
        let shorter = !shortest && limits.shorten_tail(tail.saturating_sub(over));
        if !shorter && !limits.shorten_recap(recap, over) {
            break;
        }
    }
    least(request, &budget, meter, scale, &before, base, memo)
}

/// The last try: the newest step alone, behind the shortest recap. What is over the budget even
/// then cannot be folded.
fn least(
    request: &Plan<'_>,
    budget: &Budget,
    meter: Meter,
    scale: Scale,
    before: &Context,
    base: Option<&Projection>,
    memo: &mut Memo,
) -> Result<(Outcome, Option<Context>), PlanError> {
    let Some(draft) = draft::draft(request, scale, before.tokens(), Limits::LEAST, memo) else {
        return Err(draft::floor(request, scale, before).into());
    };
    let (fold, after) = record::record(request, budget, meter, before, base, draft);
    if fold.tokens_after > scale.limit {
        return Err(draft::floor(request, scale, &after).into());
    }
    Ok((judge(request, scale, fold), Some(after)))
}

/// The fold that covers what the narration covers and leaves the rest verbatim, where that
/// reaches the target.
fn narrated_span(
    request: &Plan<'_>,
    budget: &Budget,
    meter: Meter,
    scale: Scale,
    before: &Context,
    memo: &mut Memo,
) -> Option<(Fold, Context)> {
    let narrated = request.narrated?;
    let limits = Limits { through: Some(narrated.span.end as usize), ..Limits::default() };
    let draft = draft::draft(request, scale, before.tokens(), limits, memo)?;
    draft.narrated.as_ref()?;
    let (fold, after) = record::record(request, budget, meter, before, None, draft);
    let target = request.policy.fold.target.of(scale.budget).min(scale.limit);
    (request.narrated_only || fold.tokens_after <= target).then_some((fold, after))
}

/// What a draft has to stay below, where the policy's own floors would pass the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Most tokens of the tail; the newest unit always stays.
    pub tail: Option<u64>,
    /// Most tokens of the recap.
    pub recap: Option<u64>,
    /// Most tokens of everything, where the draft before was over: what validity adds is known
    /// only then.
    pub target: Option<u64>,
    /// Cover nothing from this event on.
    pub through: Option<usize>,
}

/// A recap below this says nothing, in tokens.
const MIN_RECAP: u64 = 120;

impl Limits {
    /// The newest unit, the shortest recap, and nothing that could be covered or shortened.
    const LEAST: Self =
        Self { tail: Some(0), recap: Some(MIN_RECAP), target: Some(0), through: None };

    /// False when nothing is left to shorten.
    fn shorten_tail(&mut self, wanted: u64) -> bool {
        let before = self.tail;
        self.tail = match before {
            Some(0) => return false,
            Some(limit) => Some(wanted.min(limit - 1)),
            None => Some(wanted),
        };
        true
    }

    fn shorten_recap(&mut self, room: u64, over: u64) -> bool {
        let wanted = room.saturating_sub(over).max(MIN_RECAP);
        self.recap = Some(wanted);
        wanted < room
    }
}

/// Why nothing should be done, before any work. At the hard window no veto counts.
fn veto(
    request: &Plan<'_>,
    budget: &Budget,
    meter: &Meter,
    scale: Scale,
    tokens: u64,
) -> Option<NoOp> {
    let log = request.log;
    if request
        .prior
        .is_some_and(|fold| fold.accounts.events as usize == log.len() && fold.applies_to(log))
    {
        return Some(NoOp::NothingNew);
    }
    if tokens > scale.limit {
        return None;
    }
    let target = request.policy.fold.target.of(scale.budget);
    if request.prior.is_none() && log.holds_recap() && tokens <= target {
        return Some(NoOp::AtTarget { tokens, target });
    }
    if !request.cause.is_free() {
        return None;
    }
    let floor = request.policy.trigger.min_messages;
    if log.len() <= floor {
        return Some(NoOp::TooFewMessages { messages: log.len(), floor });
    }
    if request.cause == Cause::Threshold {
        return None;
    }
    let threshold = request.policy.trigger.line(budget.tokens()).tokens;
    let tokens = meter.calibrated(tokens);
    (tokens < threshold).then_some(NoOp::UnderThreshold { tokens, threshold })
}

/// Whether a fold that fits is worth making.
fn judge(request: &Plan<'_>, scale: Scale, fold: Fold) -> Outcome {
    if request.narrated_only {
        // What it frees is known when it is taken; a reply that came late serves a later fold.
        return Outcome::Folded(Box::new(fold));
    }
    match no_gain(request, scale, fold.tokens_before, fold.tokens_after) {
        Some(no_gain) => Outcome::Nothing(no_gain),
        None => Outcome::Folded(Box::new(fold)),
    }
}

/// A fold has to free something, where the context fits without it.
fn no_gain(request: &Plan<'_>, scale: Scale, before: u64, after: u64) -> Option<NoOp> {
    let freed = before.saturating_sub(after);
    let needed = if request.cause.is_free() {
        request.policy.fold.min_reclaim.of(scale.budget).max(1)
    } else {
        1
    };
    (freed < needed && before <= scale.limit).then_some(NoOp::NoGain { freed, needed })
}
