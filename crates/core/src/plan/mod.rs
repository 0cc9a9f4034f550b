//! Planning a fold: the only module that combines policy and meter. Deterministic: integers only, ties broken by
//! position.

mod composing;
mod cut;
mod draft;
mod kept_parts;
mod last_resort;
mod limits;
mod memo;
mod outcome;
mod record;
mod reducing;
mod request;
mod search;
mod shares;
mod stays;

pub use self::kept_parts::kept_events;
pub use self::memo::GatherMemo;
pub use self::outcome::{FloorError, NoOp, PlanError, PlanOutcome};
pub use self::request::PlanRequest;
pub(crate) use self::shares::{STEPS, aims_at_size, is_small, step_tokens};
pub(crate) use self::stays::stays;
pub use crate::trigger::FoldCause;

use self::limits::{CounterScale, DraftLimits};
use self::search::{FoldSearch, drafted, judge, pinned};
use crate::budget::{Budget, TierName};
use crate::fold::Fold;
use crate::meter::Meter;
use crate::policy::{EngineName, Policy};
use crate::project::{Context, ContextProjection, project_with_void};

/// Plans a fold.
///
/// # Errors
/// When the budget is unusable, or the tokens that no fold can take away exceed it.
pub fn plan(request: &PlanRequest<'_>) -> Result<PlanOutcome, PlanError> {
    plan_from(request, None, &mut GatherMemo::default()).map(|(outcome, _)| outcome)
}

/// As [`plan`], with the projection of the unfolded log from a caller that keeps one, so that it is not made again. A
/// fold comes with the context that it makes.
///
/// # Errors
/// When the budget is unusable, or the tokens that no fold can take away exceed it.
pub fn plan_over(
    request: &PlanRequest<'_>,
    base: &ContextProjection,
) -> Result<(PlanOutcome, Option<Context>), PlanError> {
    plan_from(request, Some(base), &mut GatherMemo::default())
}

/// As [`plan`], for several plans over one log by policies with the same tools: what one of them gathers of the log, the
/// next one need not gather again.
///
/// # Errors
/// When the budget is unusable, or the tokens that no fold can take away exceed it.
pub fn plan_sharing(
    request: &PlanRequest<'_>,
    memo: &mut GatherMemo,
) -> Result<PlanOutcome, PlanError> {
    plan_from(request, None, memo).map(|(outcome, _)| outcome)
}

/// As [`plan_over`], also with the facts gathered for the previous fold. `base` and `memo` only save work: the outcome
/// does not depend on them.
pub(crate) fn plan_from(
    request: &PlanRequest<'_>,
    base: Option<&ContextProjection>,
    memo: &mut GatherMemo,
) -> Result<(PlanOutcome, Option<Context>), PlanError> {
    let bare = || PlanRequest { put_back: None, ..pinned(request, request.pins) };
    let mut planned = plan_with(request, base, memo, false);
    // Messages that must be sent are more important than texts to put back: without those the plan may fit.
    if matches!(planned, Err(PlanError::Floor(_))) && request.put_back.is_some() {
        planned = plan_with(&bare(), base, memo, false);
    }
    // The last resort, because the agent has not read these results yet.
    if matches!(planned, Err(PlanError::Floor(_))) && request.policy.tail.cuts_results() {
        planned = plan_with(&bare(), base, memo, true);
    }
    planned
}

/// Plans with ever fewer events kept until the plan fits. Returns the last error where none fits. `cuts` allows to cut
/// the results of the newest step.
fn plan_with(
    request: &PlanRequest<'_>,
    base: Option<&ContextProjection>,
    memo: &mut GatherMemo,
    cuts: bool,
) -> Result<(PlanOutcome, Option<Context>), PlanError> {
    let mut planned = Err(PlanError::Floor(FloorError::default()));
    for pins in stays::tries(request) {
        planned = plan_by(&pinned(request, &pins), base, memo, cuts);
        if !matches!(planned, Err(PlanError::Floor(_))) {
            break;
        }
    }
    planned
}

/// Checks that midfold itself can run the engine of a policy, so that a session or a server refuses another engine as
/// soon as the policy is set.
///
/// # Errors
/// When the engine is a command, or was registered by a host.
pub fn runs_here(policy: &Policy) -> Result<(), PlanError> {
    match &policy.engine {
        EngineName::Midfold | EngineName::Passthrough => Ok(()),
        other => Err(PlanError::Engine(other.to_string())),
    }
}

/// Plans once, with the pins of the request.
fn plan_by(
    request: &PlanRequest<'_>,
    base: Option<&ContextProjection>,
    memo: &mut GatherMemo,
    cuts: bool,
) -> Result<(PlanOutcome, Option<Context>), PlanError> {
    let nothing = |reason| Ok((PlanOutcome::Nothing(reason), None));
    let policy = request.policy;
    runs_here(policy)?;
    if policy.engine == EngineName::Passthrough {
        return nothing(NoOp::Passthrough);
    }
    let budget = request.budget.with_policy(policy);
    budget.check()?;
    let meter = request.meter.with_margin(policy.trigger.margin);
    let scale = CounterScale::new(budget.tokens(), request.target, &meter);
    let before = request
        .before
        .clone()
        .unwrap_or_else(|| project_with_void(request.log, request.prior, request.void));
    if let Some(reason) = veto(request, &budget, &meter, scale, before.tokens()) {
        return nothing(reason);
    }
    let decided =
        PlanRequest { cause: cause(request, &budget, &meter), ..pinned(request, request.pins) };
    let request = &decided;
    if let Some((fold, after)) = narrated_span(request, &budget, meter, scale, &before, memo) {
        return Ok((judge(request, scale, fold), Some(after)));
    }
    if request.narrated_only {
        return nothing(NoOp::FullyProtected);
    }
    let search = FoldSearch { request, budget: &budget, meter, scale, before: &before, base, cuts };
    search.run(memo)
}

/// The events that a recap would cover if the log were folded now, whether or not that is due: those that a model
/// should narrate ahead of time. Empty where reducers alone reach the target.
pub(crate) fn coverable(request: &PlanRequest<'_>) -> std::ops::Range<usize> {
    let budget = request.budget.with_policy(request.policy);
    let meter = request.meter.with_margin(request.policy.trigger.margin);
    let scale = CounterScale::new(budget.tokens(), request.target, &meter);
    let pins = stays::pins(request);
    draft::covered(&pinned(request, &pins), scale, request.log.tokens())
}

/// The fold that covers just the narrated span and leaves the rest verbatim. `None` where that misses the target, or
/// the policy covers the whole middle in any case.
fn narrated_span(
    request: &PlanRequest<'_>,
    budget: &Budget,
    meter: Meter,
    scale: CounterScale,
    before: &Context,
    memo: &mut GatherMemo,
) -> Option<(Fold, Context)> {
    let narrated = request.narrated?;
    if request.policy.narration.whole_middle && !request.narrated_only {
        return None;
    }
    let limits =
        DraftLimits { through: Some(narrated.span.end as usize), ..DraftLimits::default() };
    let draft = draft::draft(&drafted(request), scale, before.tokens(), limits, memo)?;
    // Without room for the narration, a fold of just its span has no advantage.
    draft.narrated.as_ref()?;
    let (fold, after) = record::record(request, budget, meter, before, None, draft);
    let target = request.policy.fold.target.of(scale.budget).min(scale.limit);
    (request.narrated_only || fold.tokens_after <= target).then_some((fold, after))
}

/// The reason not to fold, found before any work; `None` where planning goes on. No reason counts for a context that
/// does not fit.
fn veto(
    request: &PlanRequest<'_>,
    budget: &Budget,
    meter: &Meter,
    scale: CounterScale,
    tokens: u64,
) -> Option<NoOp> {
    let log = request.log;
    // This can happen without a new event: the provider may have counted more tokens than the estimate.
    if tokens > scale.limit {
        return None;
    }
    // A second fold of the same events is justified by a size that somebody asked for and that is not reached.
    let is_over_asked = scale.wanted.is_some_and(|wanted| tokens > wanted);
    if !is_over_asked
        && request
            .prior
            .is_some_and(|fold| fold.accounts.events as usize == log.len() && fold.applies_to(log))
    {
        return Some(NoOp::NothingNew);
    }
    let target = scale.wanted.unwrap_or_else(|| request.policy.fold.target.of(scale.budget));
    // The log itself has a recap: somebody compacted the conversation before it came here.
    if request.prior.is_none() && log.holds_recap() && tokens <= target {
        return Some(NoOp::AtTarget { tokens, target });
    }
    let floor = request.policy.trigger.min_messages;
    if log.len() <= floor {
        return Some(NoOp::TooFewMessages { messages: log.len(), floor });
    }
    if !request.cause.is_free() {
        return None;
    }
    if request.cause.is_due() {
        return None;
    }
    if over_tier(request, budget, meter) {
        return None;
    }
    let threshold = request.policy.trigger.line(budget.tokens()).tokens;
    let tokens = meter.calibrated(tokens);
    (tokens < threshold).then_some(NoOp::UnderThreshold { tokens, threshold })
}

/// The cause that the record names: where planning itself had to decide, the line that was crossed.
fn cause(request: &PlanRequest<'_>, budget: &Budget, meter: &Meter) -> FoldCause {
    match request.cause {
        FoldCause::Check if over_tier(request, budget, meter) => FoldCause::Tier,
        FoldCause::Check => FoldCause::Threshold,
        known => known,
    }
}

/// Whether a class of content is over its cap in a log that was not folded yet.
fn over_tier(request: &PlanRequest<'_>, budget: &Budget, meter: &Meter) -> bool {
    let events = request.log.events();
    let used = |tier: TierName| events.iter().map(|event| tier.tokens(event)).sum();
    let mut caps = budget.caps(budget.tokens()).into_iter();
    // Behind a fold the log's tokens are not those of the context. A session compares the context before it plans.
    request.prior.is_none() && caps.any(|(tier, cap)| meter.calibrated(used(tier)) > cap)
}
