//! How a fold shares its room between the tail and the recap.

use super::cut::FoldCut;
use super::limits::{CounterScale, DraftLimits, MIN_RECAP};
use super::request::PlanRequest;
use crate::budget::Ratio;
use crate::log::EventLog;
use crate::policy::{CoverExtent, Policy, RecapFallback};
use crate::trigger::FoldCause;
use crate::unit::EventUnit;

/// The least part of the budget that a recap may take, whatever stays beside it. A reader of a shorter one could not
/// go on.
const FLOOR: Ratio = Ratio(1_000);

/// The least size, in tokens, that the recap's share is taken of: its header alone takes about a hundred tokens.
const SMALL: u64 = 4_000;

/// The steps that a fold in a small window leaves room for, as large as the newest ones were.
pub(crate) const STEPS: usize = 3;

/// Whether a window of `budget` tokens is small: it holds a few steps beside the `fixed` tokens. In a larger one a step
/// takes a small part, or is an exception that says nothing of the next.
pub(crate) fn is_small(budget: u64, fixed: u64) -> bool {
    budget.saturating_sub(fixed) < 32_000
}

/// Tokens of the recap's message beside its text.
pub(super) const FRAME: u64 = 8;

/// The sizes that a fold aims at, in counted tokens. They apply to policies whose computed recap covers the whole
/// middle and whose floors may give way: the others imitate tools that let the tail take what it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldAim {
    /// The size of the whole context.
    pub target: u64,
    /// The room of the recap that the tail has to leave. It is half of what the policy grants the recap.
    pub roomy: u64,
    /// The room of the recap that head, pins and the newest step have to leave as far as the budget allows it.
    pub floor: u64,
}

/// The size of the context after a fold, and how its parts share it.
pub(super) struct FoldShares<'a> {
    request: &'a PlanRequest<'a>,
    scale: CounterScale,
    limits: DraftLimits,
    /// The size that shares are taken of where nobody asks for a smaller one.
    share: u64,
    /// Whether the context fits its budget, and somebody compacts it by hand without asking for a size. Then the floors
    /// hold, and what they protect as a whole is left alone.
    keeps_floors: bool,
    /// The most tokens of the whole context.
    pub target: u64,
    /// The size that reducers alone may leave: the policy's own target, or the size that somebody asked for.
    pub enough: u64,
    /// `None` where the tail takes its floors and the recap its cap.
    pub aim: Option<FoldAim>,
}

impl<'a> FoldShares<'a> {
    /// The shares for a context of `before` tokens, within `limits`.
    pub fn of(
        request: &'a PlanRequest<'a>,
        scale: CounterScale,
        before: u64,
        limits: DraftLimits,
    ) -> Self {
        let goals = &request.policy.fold;
        let aims = aims_at_size(request.policy);
        // A person who asks for a compaction wants one even of a short conversation: aim at half of it, or at the
        // policy's share of it where that is more.
        let halves = matches!(request.cause, FoldCause::Manual | FoldCause::Overflow);
        let whole = if aims { scale.budget.min(worked(request, scale)) } else { scale.budget };
        let share = if halves || !request.cause.is_free() { whole.min(before) } else { whole };
        let steps = if aims { room_before_steps(request, scale) } else { u64::MAX };
        let own = goals.target.of(whole).min(scale.limit).min(steps);
        let halved = goals.target.of(before).max(before / 2);
        let target = match () {
            () if halves => own.min(halved),
            // A fold before the line (a tier, a cold cache, the end of some work, a wish of the agent) leaves the part
            // of the context that a fold at the line leaves. A recap that may fill the whole target would free nothing.
            () if aims && request.cause.is_free() => {
                own.min(part(before, goals.target, request.policy.trigger.threshold))
            }
            () => own,
        };
        let most = limits.target.unwrap_or(u64::MAX);
        let target = scale.wanted.unwrap_or(target).min(most);
        let enough = scale.wanted.unwrap_or(own).min(most);
        let by_hand = request.cause == FoldCause::Manual && scale.wanted.is_none();
        let keeps_floors = by_hand && before <= scale.limit && limits.target.is_none();
        let mut shares =
            Self { request, scale, limits, share, keeps_floors, target, enough, aim: None };
        shares.aim = aims.then(|| shares.aim());
        shares
    }

    fn aim(&self) -> FoldAim {
        let cap = self.request.policy.recap.cap.of(self.share);
        let floor = match self.scale.wanted {
            Some(_) => MIN_RECAP,
            // Nobody waits for the next fold of a conversation that is compacted by hand.
            None if self.request.cause == FoldCause::Manual => {
                most_of(self.request.policy, cap / 2).max(MIN_RECAP)
            }
            None => most_of(self.request.policy, FLOOR.of(self.share).min(cap)).max(MIN_RECAP),
        };
        let roomy = self.roomy(self.target).max(floor);
        FoldAim { target: self.target, roomy, floor }
    }

    /// The room of the recap that the tail has to leave where the whole is to have `target` tokens.
    fn roomy(&self, target: u64) -> u64 {
        let policy = self.request.policy;
        let granted = match self.scale.wanted {
            // The recap has the same part of the asked size as it has of a fold's target.
            Some(_) => part(target, policy.recap.cap, policy.fold.target),
            None => policy.recap.cap.of(self.share),
        };
        most_of(policy, granted.min(target)) / 2
    }

    /// Cuts the log so that the tail leaves the recap its room.
    pub fn cut(&self, units: &[EventUnit]) -> FoldCut {
        match self.scale.wanted {
            Some(_) => self.cut_to(units, rounded(self.target)),
            None => self.cut_within(units, self.share, None, self.target),
        }
    }

    /// The cut where somebody asked for this size: shares are taken of it.
    fn cut_to(&self, units: &[EventUnit], size: u64) -> FoldCut {
        self.cut_within(units, self.share.min(size), Some(self.asked_tail(size)), size)
    }

    /// The cut with shares of `share` tokens, where the whole is to have `target`.
    fn cut_within(
        &self,
        units: &[EventUnit],
        share: u64,
        tail: Option<u64>,
        target: u64,
    ) -> FoldCut {
        let tail = self.limits.tail.or(tail);
        let mut cut = FoldCut::of(self.request, units, share, tail);
        let Some(aim) = self.aim else { return cut };
        let recap = self.roomy(target).max(aim.floor) + FRAME;
        let most = target.saturating_sub(recap).min(self.before_steps().saturating_sub(recap));
        // Each round takes off at least a token. Messages that leave the tail may stay as pins.
        while cut.rest() > most && !cut.tail_is_newest && !self.keeps_floors {
            let over = cut.rest() - most;
            let tail = cut.layout.tail_tokens.saturating_sub(over);
            cut = FoldCut::of(self.request, units, share, Some(tail));
        }
        cut
    }

    /// The most tokens of a context that leaves room for [`STEPS`] more steps before the line. In a small window the next
    /// fold would else be due after a step or two, and each fold costs the provider's cache.
    fn before_steps(&self) -> u64 {
        if !leaves_room_for_steps(self.request, self.scale) {
            return u64::MAX;
        }
        let steps = STEPS as u64 * step_tokens(self.request.log);
        self.request.policy.trigger.threshold.of(self.share).saturating_sub(steps)
    }

    /// The most tokens of the tail where somebody asked for a size: the same part of that size as the tail has of a
    /// fold's target.
    fn asked_tail(&self, target: u64) -> u64 {
        part(target, self.request.policy.tail.ratio, self.request.policy.fold.target).min(target)
    }

    /// The recap's cap beside the parts of `cut`.
    pub fn cap(&self, units: &[EventUnit], cut: &FoldCut) -> u64 {
        let policy = self.request.policy;
        let cap = match (self.aim, self.scale.wanted) {
            (Some(aim), None) => self.aimed_cap(cut, aim),
            (_, Some(_)) => self.asked_cap(units, cut).max(MIN_RECAP),
            (None, None) => {
                let share = self.share.max(SMALL.min(self.scale.budget));
                most_of(policy, policy.recap.cap.of(share))
            }
        };
        // Lines that are put back take their room from the recap, but at most half of it.
        let put_back = self.request.put_back.map_or(0, |block| block.tokens);
        let cap = cap.saturating_sub(put_back).max(cap / 2);
        cap.min(self.limits.recap.unwrap_or(u64::MAX))
    }

    /// The recap's cap where nobody asked for a size: its share, as far as the target has room for it, and never below
    /// the floor while the budget has room.
    fn aimed_cap(&self, cut: &FoldCut, aim: FoldAim) -> u64 {
        let policy = self.request.policy;
        let room = aim.target.saturating_sub(cut.rest() + FRAME);
        let granted = most_of(policy, policy.recap.cap.of(self.share)).min(room);
        let spare = most_of(policy, room) - granted;
        let filled = match () {
            () if !policy.recap.fills => 0,
            // Nobody counts the mean of a conversation that is compacted by hand.
            () if self.request.cause == FoldCause::Manual => spare,
            // A narration is one text, which has to find room as a whole.
            () if self.request.narrated.is_some() => spare,
            () => self.of_users(spare, cut),
        };
        let free = self.scale.limit.saturating_sub(cut.rest() + FRAME);
        (granted + filled).max(aim.floor.min(free)).max(MIN_RECAP)
    }

    /// The part of `spare` tokens that the recap takes because it covers words of the user. Files can be read again, and
    /// what the user said cannot. All of it where half of the covered tokens are the user's.
    fn of_users(&self, spare: u64, cut: &FoldCut) -> u64 {
        let (covered, users) = cut.covered(self.request);
        let part = u128::from(spare) * u128::from(2 * users) / u128::from(covered.max(1));
        u64::try_from(part).unwrap_or(spare).min(spare)
    }

    /// The recap's cap where somebody asked for a size: what is left of that size. At a somewhat larger size one more
    /// step joins the tail, and the recap gets less for it. The room of that step stays free at the smaller size, too,
    /// so that a larger size never keeps less.
    fn asked_cap(&self, units: &[EventUnit], cut: &FoldCut) -> u64 {
        let target = self.target;
        let mut cap = target.saturating_sub(cut.rest() + FRAME);
        let mut size = next(rounded(target));
        // Beyond twice the size the recap has more in any case.
        let last = target.saturating_add(target.min(2 * self.asked_tail(target)));
        while size <= last {
            let rest = self.cut_to(units, size).rest();
            cap = cap.min(size.saturating_sub(rest + FRAME));
            size = next(size);
        }
        cap
    }
}

/// Whether the fold has to leave room for more steps: it is due in a small window, and nobody asked for a size.
fn leaves_room_for_steps(request: &PlanRequest<'_>, scale: CounterScale) -> bool {
    let fixed = request.log.envelope_tokens();
    request.cause.is_due() && scale.wanted.is_none() && is_small(scale.budget, fixed)
}

/// The size that leaves room for as many more steps in the window as a context of the newest one and a short recap can
/// leave, at most [`STEPS`].
fn room_before_steps(request: &PlanRequest<'_>, scale: CounterScale) -> u64 {
    if !leaves_room_for_steps(request, scale) {
        return u64::MAX;
    }
    let step = step_tokens(request.log);
    let least = request.log.envelope_tokens() + step + FLOOR.of(scale.budget) + FRAME;
    let rooms = (1..=STEPS as u64).rev().map(|steps| scale.limit.saturating_sub(steps * step));
    rooms.filter(|room| *room >= least).min().unwrap_or(u64::MAX)
}

/// The mean size of the newest [`STEPS`] steps, in counted tokens.
pub(crate) fn step_tokens(log: &EventLog) -> u64 {
    let events = log.events();
    let newest = events.last().map_or(0, |event| event.step);
    let from = newest.saturating_sub(STEPS as u32);
    let steps = events.iter().rev().take_while(|event| event.step > from);
    let tokens = steps.map(|event| u64::from(event.tokens.total)).sum::<u64>();
    tokens / u64::from((newest - from).max(1))
}

/// The tokens of which `of` is the share that `whole` is of `tokens`.
fn part(tokens: u64, of: Ratio, whole: Ratio) -> u64 {
    let part = u128::from(tokens) * u128::from(of.0) / u128::from(whole.0.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// The significant bits of a rounded size.
const DIGITS: u32 = 5;

/// The size rounded down. The tail grows only at rounded sizes, of which there are few.
fn rounded(size: u64) -> u64 {
    size >> shift(size) << shift(size)
}

/// The rounded size after a rounded one.
fn next(size: u64) -> u64 {
    size.saturating_add(1 << shift(size))
}

/// The bits of a size that rounding clears.
fn shift(size: u64) -> u32 {
    size.checked_ilog2().unwrap_or(0).saturating_sub(DIGITS - 1)
}

/// Whether a fold by this policy aims at a size of its own: a computed recap covers the whole middle, and the tail leaves
/// it room. The others imitate tools that let the tail take what it takes.
pub(crate) fn aims_at_size(policy: &Policy) -> bool {
    policy.recap.cover == CoverExtent::Middle
        && policy.recap.fallback == RecapFallback::Computed
        && !policy.fold.holds_floors()
}

/// The budget in which the policy's line would be its share. It is smaller than the budget where a number of tokens, a
/// reserve or a price cliff sets a lower line. Then all shares have to be smaller, too, or a fold is due at once.
fn worked(request: &PlanRequest<'_>, scale: CounterScale) -> u64 {
    let trigger = &request.policy.trigger;
    let budget = request.budget.with_policy(request.policy).tokens();
    let line = request.meter.counted(trigger.line(budget).tokens).min(scale.limit);
    let whole = u128::from(line) * 10_000 / u128::from(trigger.threshold.0.max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

/// The smaller of `tokens` and the policy's absolute cap of a recap (0: no cap).
fn most_of(policy: &Policy, tokens: u64) -> u64 {
    match policy.recap.cap_tokens {
        0 => tokens,
        most => tokens.min(most),
    }
}
