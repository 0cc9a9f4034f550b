//! The search for a fold that fits and that leaves room until the next one.

use super::limits::{CounterScale, DraftLimits, MIN_RECAP};
use super::memo::GatherMemo;
use super::outcome::{NoOp, PlanError, PlanOutcome};
use super::request::PlanRequest;
use super::{draft, last_resort, record};
use crate::budget::Budget;
use crate::fold::Fold;
use crate::meter::Meter;
use crate::profile::ReasoningBinding;
use crate::project::{Context, ContextProjection};
use crate::trigger::FoldCause;

/// How often tail and recap are shortened before planning gives up. Each round takes off the excess of the round
/// before. A tail shrinks by whole units, so several rounds may be needed.
const ROUNDS: usize = 12;

/// The search for a fold that fits and leaves room: first as the policy wants it, then with a shorter tail, then with a
/// shorter recap.
pub(super) struct FoldSearch<'a> {
    pub request: &'a PlanRequest<'a>,
    pub budget: &'a Budget,
    pub meter: Meter,
    pub scale: CounterScale,
    pub before: &'a Context,
    pub base: Option<&'a ContextProjection>,
    /// Whether results of the newest step may be cut where nothing else fits.
    pub cuts: bool,
}

impl FoldSearch<'_> {
    /// Returns the fold with its context, a reason for none, or the floor that does not fit.
    pub fn run(&self, memo: &mut GatherMemo) -> Result<(PlanOutcome, Option<Context>), PlanError> {
        let Self { request, budget, meter, scale, before, base, .. } = *self;
        let mut limits = DraftLimits::default();
        let drafted = drafted(request);
        // The smallest fold that fits; the search goes on for one that leaves more room.
        let mut fits: Option<(Fold, Context)> = None;
        // Each round that goes on makes one limit smaller, so no draft is made twice.
        for _ in 0..ROUNDS {
            let Some(draft) = draft::draft(&drafted, scale, before.tokens(), limits, memo) else {
                // No event between head and tail may leave: shorten the tail where the context is too large.
                if before.tokens() <= scale.goal() {
                    return Ok((PlanOutcome::Nothing(NoOp::FullyProtected), None));
                }
                let head = request.log.envelope_tokens() + draft::head_tokens(request, scale);
                // A quarter of the room stays free for the recap of the events that leave the tail.
                if !limits.shorten_tail(scale.goal().saturating_sub(head) * 3 / 4) {
                    break;
                }
                continue;
            };
            // A first fold in which every message stays frees nothing; it is useful only where it voids reasoning.
            if request.prior.is_none()
                && draft.changes_nothing()
                && request.reasoning == ReasoningBinding::Free
                && let Some(reason) = no_gain(request, scale, before.tokens(), before.tokens())
            {
                return Ok((PlanOutcome::Nothing(reason), None));
            }
            let (tail, recap, shortest) =
                (draft.tail_tokens, draft.recap_room(request), draft.tail_is_newest);
            let (target, more) = (draft.target, draft.can_cover_more(request.policy));
            let (most, aim) = (draft.most(request), draft.aim);
            let (fold, after) = record::record(request, budget, meter, before, base, draft);
            let size = fold.tokens_after;
            let (over, least_recap) = if size > scale.goal() {
                (size - scale.goal(), MIN_RECAP)
            } else if let Some(most) = most.filter(|most| size > *most) {
                // A later draft is not always smaller: a recap of more events may grow by more than they free.
                if fits.as_ref().is_none_or(|(best, _)| size < best.tokens_after) {
                    fits = Some((fold, after));
                }
                (size - most, aim.map_or(MIN_RECAP, |aim| aim.floor))
            } else {
                return Ok((judge(request, scale, fold), Some(after)));
            };
            // Cover more of the middle first: that takes old messages before new ones.
            if more && target > 0 {
                // With a shorter recap no more messages may stay, or the two would change places for ever.
                let smaller = limits.recap.map_or(target.saturating_sub(over), |_| 0);
                limits.target = Some(smaller);
                continue;
            }
            // Then take from the recap what the tail left it beyond its room, then shorten the tail, and the rest of the
            // recap only once the tail cannot get shorter. Floors that hold go before the whole recap.
            let roomy = match aim {
                Some(aim) => aim.roomy.max(least_recap),
                None if request.policy.fold.holds_floors() => least_recap,
                None => u64::MAX,
            };
            let shorter = limits.shorten_recap(recap, over, roomy)
                || (!shortest && limits.shorten_tail(tail.saturating_sub(over)));
            if !shorter && !limits.shorten_recap(recap, over, least_recap) {
                break;
            }
        }
        match fits {
            Some((fold, after)) => Ok((judge(request, scale, fold), Some(after))),
            // A recap far below its cap may have used up the rounds, so the floor is measured on the least context.
            None => self.least(memo),
        }
    }

    /// The last try: the newest step alone behind the shortest recap, and where that is allowed with its results cut. If
    /// even that exceeds the budget, the error names the floor.
    fn least(&self, memo: &mut GatherMemo) -> Result<(PlanOutcome, Option<Context>), PlanError> {
        let Self { request, scale, before, .. } = *self;
        let drafted = self.drafted(DraftLimits::LEAST, memo);
        let least = drafted.as_ref().map_or(before, |(_, after)| after);
        if least.tokens() > scale.limit {
            let room = last_resort::room(request, scale, least, self.cuts);
            let limits = DraftLimits { cut: room, ..DraftLimits::LEAST };
            let cut = room.and_then(|_| self.drafted(limits, memo));
            return match cut.filter(|(fold, _)| fold.tokens_after <= scale.limit) {
                Some((fold, after)) => Ok((judge(request, scale, fold), Some(after))),
                None => Err(draft::floor(request, scale, least).into()),
            };
        }
        // What the least context leaves of the size is the recap's.
        let spare = scale.goal().saturating_sub(least.tokens());
        let recap = Some(MIN_RECAP + spare);
        let roomier = self.drafted(DraftLimits { recap, ..DraftLimits::LEAST }, memo);
        let roomier = roomier.filter(|(fold, _)| fold.tokens_after <= scale.goal());
        Ok(match roomier.or(drafted) {
            Some((fold, after)) => (judge(request, scale, fold), Some(after)),
            None => (PlanOutcome::Nothing(NoOp::FullyProtected), None),
        })
    }

    /// The fold of a draft within `limits`, and its context; `None` where no event may leave.
    fn drafted(&self, limits: DraftLimits, memo: &mut GatherMemo) -> Option<(Fold, Context)> {
        let Self { request, budget, meter, scale, before, base, .. } = *self;
        let draft = draft::draft(request, scale, before.tokens(), limits, memo)?;
        Some(record::record(request, budget, meter, before, base, draft))
    }
}

/// A copy of the request with other pins.
pub(super) fn pinned<'a>(request: &PlanRequest<'a>, pins: &'a [u32]) -> PlanRequest<'a> {
    PlanRequest {
        pins,
        before: request.before.clone(),
        joining: request.joining.clone(),
        ..*request
    }
}

/// The request as a draft sees it. Some policies take their shares of the budget even where a person asks for the fold;
/// then the draft sees the cause `Threshold`.
pub(super) fn drafted<'a>(request: &PlanRequest<'a>) -> PlanRequest<'a> {
    let of_budget = request.cause == FoldCause::Manual
        && request.target.is_none()
        && request.policy.fold.holds_floors();
    let cause = if of_budget { FoldCause::Threshold } else { request.cause };
    PlanRequest { cause, ..pinned(request, request.pins) }
}

/// The outcome for a fold that fits: the fold, or that it frees too little.
pub(super) fn judge(request: &PlanRequest<'_>, scale: CounterScale, fold: Fold) -> PlanOutcome {
    if request.narrated_only {
        // Its gain is judged when a session takes it; after a late reply it serves a later fold.
        return PlanOutcome::Folded(Box::new(fold));
    }
    match no_gain(request, scale, fold.tokens_before, fold.tokens_after) {
        Some(no_gain) => PlanOutcome::Nothing(no_gain),
        None => PlanOutcome::Folded(Box::new(fold)),
    }
}

/// The reason not to make a fold that frees too few tokens. `None` where it frees enough, or the context does not fit
/// without it.
pub(super) fn no_gain(
    request: &PlanRequest<'_>,
    scale: CounterScale,
    before: u64,
    after: u64,
) -> Option<NoOp> {
    let freed = before.saturating_sub(after);
    let needed = if request.cause.is_free() {
        // A least gain of 0 still refuses a fold that frees nothing, since it would break the cache.
        request.policy.fold.min_reclaim.of(scale.budget).max(1)
    } else {
        1
    };
    (freed < needed && before <= scale.limit).then_some(NoOp::NoGain { freed, needed })
}
