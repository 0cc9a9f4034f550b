//! A draft: the messages that a fold would leave between head and tail.

use std::borrow::Cow;
use std::ops::Range;

use super::composing::{RecapInputs, stand_in};
use super::cut::{FoldCut, pinned_units, units_in};
use super::last_resort::{self, CutEvents};
use super::limits::{CounterScale, DraftLimits};
use super::memo::GatherMemo;
use super::outcome::FloorError;
use super::reducing::{
    MiddleEdits, MiddleRoom, ReducedMiddle, covered_for_recap, pruned_counts, reduce,
};
use super::request::PlanRequest;
use super::shares::{FRAME, FoldAim, FoldShares};
use crate::budget::TierName;
use crate::event::Event;
use crate::fold::PrunedCount;
use crate::layout::{Layout, layout};
use crate::log::EventLog;
use crate::narrate::AcceptedNarration;
use crate::piece::{ContextPiece, PieceFate};
use crate::policy::{CoverExtent, Policy, RecapFallback, RecapSource, ReducerName};
use crate::project::Context;
use crate::recap::compose::ComposedRecap;
use crate::reduce::MiddleEdit;
use crate::tools::ToolTable;
use crate::unit::EventUnit;
use crate::view::TextOrigin;

/// The drafted middle, with its recap and its sizes. Sizes are in counted tokens.
pub(super) struct FoldDraft {
    pub layout: Layout,
    /// Events that a recap or marker covers.
    pub covered: Vec<usize>,
    /// Events of the middle that stay, in order, with their edits.
    pub kept: Vec<(usize, Vec<(usize, MiddleEdit)>)>,
    pub recap: Option<ComposedRecap>,
    /// The text in place of the covered events where no recap is computed.
    pub text: Option<String>,
    /// What reducers removed from the covered events before the recap was made.
    pub read: Vec<PrunedCount>,
    /// The narration that is part of the recap.
    pub narrated: Option<AcceptedNarration>,
    /// Why a narration that is there is no part of it.
    pub unused: Option<&'static str>,
    pub pinned: Vec<usize>,
    pub head_tokens: u64,
    pub tail_tokens: u64,
    /// The size of all that stays beside the recap.
    pub rest: u64,
    /// The recap's cap.
    pub cap: u64,
    /// The size that the whole context was to have.
    pub target: u64,
    /// The sizes that this policy aims at; `None` where the policy imitates another tool.
    pub aim: Option<FoldAim>,
    /// Whether the tail is the newest unit alone, so that it cannot be shortened.
    pub tail_is_newest: bool,
}

impl FoldDraft {
    /// The most tokens of the whole context; a larger one is drafted again with a shorter recap. `None` where there is
    /// no such size: the policy imitates another tool, or the fold covers just a narrated span.
    pub fn most(&self, request: &PlanRequest<'_>) -> Option<u64> {
        let put_back = request.put_back.map_or(0, |block| block.tokens);
        let aim = self.aim.filter(|_| !request.narrated_only)?;
        Some(aim.target.max(self.rest + aim.floor + put_back + FRAME))
    }

    /// Whether every message would stay as it is, so that nothing could be freed.
    pub fn changes_nothing(&self) -> bool {
        self.recap.is_none() && self.kept.iter().all(|(_, edits)| edits.is_empty())
    }

    /// The tokens that a shorter recap has to stay below: the smaller of the cap and what this recap uses.
    pub fn recap_room(&self, request: &PlanRequest<'_>) -> u64 {
        let computed =
            request.policy.recap.fallback == RecapFallback::Computed && request.recap.is_none();
        let used = self.recap.as_ref().filter(|_| computed).map(|recap| recap.tokens);
        used.map_or(self.cap, |used| used.min(self.cap))
    }

    /// Whether the policy lets the recap cover more of the middle.
    pub fn can_cover_more(&self, policy: &Policy) -> bool {
        policy.reducers.contains(&ReducerName::Recap)
            && policy.recap.cover == CoverExtent::Overflow
            && self.kept.len() > self.pinned.len()
    }
}

/// Drafts a fold. `None` where no event between head and tail may leave.
pub(super) fn draft(
    request: &PlanRequest<'_>,
    scale: CounterScale,
    before: u64,
    limits: DraftLimits,
    memo: &mut GatherMemo,
) -> Option<FoldDraft> {
    let log = request.log;
    let grounds = DraftGrounds::of(request, scale, before, limits);
    let cut = &grounds.cut;
    let is_pinned = |unit: &EventUnit| cut.pinned.contains(&unit.events.start);
    let (layout, middle) = (&cut.layout, &cut.middle);
    // Covering old recaps alone frees nothing. It is done only where the context has to shrink: it does not fit, or
    // somebody asked for a size.
    let fits = before <= if request.target.is_some() { scale.goal() } else { scale.limit };
    let cuts = limits.cut.is_some();
    if !cuts && middle.iter().all(|unit| is_pinned(unit) || (fits && only_recaps(log, unit))) {
        return None;
    }
    let ReducedMiddle { mut keep_from, edits } = grounds.reduce(request, scale);
    // A prepared fold covers exactly the narrated span; there is none where the span reaches into the tail.
    if let Some(through) = limits.through {
        if through > layout.cover_end {
            return None;
        }
        keep_from = through;
    }
    let MiddleParts { covered, kept, pinned, cut_events, reduced, read } =
        grounds.split(request, limits, keep_from, edits);
    let narrated = request.narrated;
    let mut unused = narrated.and_then(|narration| unfit(request, layout, keep_from, narration));
    let narrated = narrated.filter(|_| unused.is_none());
    let cap = grounds.room.cap;
    let (tools, reduced) = (&grounds.tools, reduced.as_deref());
    let composing = RecapInputs { request, layout, narrated, cap, tools, reduced };
    let text = stand_in(request, &covered, narrated, cap, memo);
    let recap =
        (!covered.is_empty()).then(|| composing.recap(&covered, &kept, text.as_deref(), memo));
    // The computed recap may have had no room for the narration.
    if narrated.is_some() && text.is_none() && recap.as_ref().is_some_and(|recap| !recap.narrated) {
        unused = Some("the recap has no room for it");
    }
    let narrated = narrated.filter(|_| unused.is_none());
    let untouched = match cut_events.newest.is_empty() {
        true => layout.untouched,
        false => log.len(),
    };
    let carried_user = layout.carried_user.filter(|at| !cut_events.carried.contains(at));
    Some(FoldDraft {
        covered,
        kept,
        recap,
        text,
        read,
        narrated: narrated.cloned(),
        unused,
        pinned,
        head_tokens: cut.head_tokens,
        tail_tokens: layout.tail_tokens,
        rest: cut.rest(),
        cap,
        target: grounds.target,
        aim: grounds.aim,
        tail_is_newest: cut.tail_is_newest,
        layout: Layout { untouched, carried_user, ..layout.clone() },
    })
}

/// The events that a recap would cover if the log were folded now. Empty where reducers alone suffice.
pub(super) fn covered(request: &PlanRequest<'_>, scale: CounterScale, before: u64) -> Range<usize> {
    let grounds = DraftGrounds::of(request, scale, before, DraftLimits::default());
    match request.policy.recap.cover {
        CoverExtent::Middle => grounds.cut.layout.middle(),
        CoverExtent::Overflow => {
            grounds.cut.layout.head_end..grounds.reduce(request, scale).keep_from
        }
    }
}

/// The basis of a draft: where the cuts lie, and how many tokens the middle may cost.
struct DraftGrounds {
    cut: FoldCut,
    tools: Cow<'static, ToolTable>,
    target: u64,
    aim: Option<FoldAim>,
    room: MiddleRoom,
}

impl DraftGrounds {
    /// Finds the cuts and the sizes for a request within `limits`. `before` is the size of the present context.
    fn of(
        request: &PlanRequest<'_>,
        scale: CounterScale,
        before: u64,
        limits: DraftLimits,
    ) -> Self {
        let units = request.log.units();
        let shares = FoldShares::of(request, scale, before, limits);
        let cut = shares.cut(&units);
        let ends = cut.ends();
        let without_ends = |size: u64| size.saturating_sub(ends);
        let (spare, enough) = (without_ends(shares.target), without_ends(shares.enough));
        Self {
            room: MiddleRoom { spare, enough, cap: shares.cap(&units, &cut) },
            tools: ToolTable::of(&request.policy.tools),
            target: shares.target,
            aim: shares.aim,
            cut,
        }
    }

    /// Runs the reducers over the middle.
    fn reduce(&self, request: &PlanRequest<'_>, scale: CounterScale) -> ReducedMiddle {
        let is_pinned = |unit: &EventUnit| self.cut.pinned.contains(&unit.events.start);
        let Self { cut, room, tools, .. } = self;
        reduce(request, scale, &cut.layout, &cut.middle, &is_pinned, *room, tools)
    }
}

/// The middle of a draft, by what becomes of its events.
struct MiddleParts {
    covered: Vec<usize>,
    /// Events that stay, with their edits; also those of the newest unit that are shown cut.
    kept: Vec<(usize, Vec<(usize, MiddleEdit)>)>,
    pinned: Vec<usize>,
    cut_events: CutEvents,
    /// The covered events as reducers left them, for a policy whose recap reads these.
    reduced: Option<Vec<Event>>,
    /// What reducers removed from the covered events, for such a policy.
    read: Vec<PrunedCount>,
}

impl DraftGrounds {
    /// Splits the middle: what comes before `keep_from` is covered, unless it is pinned.
    fn split(
        &self,
        request: &PlanRequest<'_>,
        limits: DraftLimits,
        keep_from: usize,
        mut edits: MiddleEdits,
    ) -> MiddleParts {
        let FoldCut { layout, middle, pinned, .. } = &self.cut;
        let is_pinned = |unit: &&EventUnit| pinned.contains(&unit.events.start);
        let stays = |unit: &&EventUnit| unit.events.start >= keep_from || is_pinned(unit);
        let events = |units: &mut dyn Iterator<Item = &EventUnit>| -> Vec<usize> {
            units.flat_map(|unit| unit.events.clone()).collect()
        };
        let covered = events(&mut middle.iter().filter(|unit| !stays(unit)));
        let reads_reduced = request.policy.recap.reads == RecapSource::Reduced;
        let reduced = reads_reduced.then(|| covered_for_recap(request.log, &covered, &edits));
        let cut_events = limits.cut.map_or_else(CutEvents::default, |room| {
            last_resort::cut(request, &self.tools, layout.carried_user, room, &mut edits)
        });
        // The edits of kept events are taken out, so that the rest is those of covered events, which `pruned` counts.
        let staying = events(&mut middle.iter().filter(stays)).into_iter();
        let staying = staying.chain(cut_events.newest.clone());
        let kept = staying.map(|at| (at, edits.remove(&at).unwrap_or_default())).collect();
        let read = if reads_reduced { pruned_counts(&edits) } else { Vec::new() };
        let mut pinned = events(&mut middle.iter().filter(is_pinned));
        // An event that is shown cut is no pin: a pin is verbatim.
        pinned.retain(|at| !cut_events.carried.contains(at));
        MiddleParts { covered, kept, pinned, cut_events, reduced: reduced.flatten(), read }
    }
}

/// Whether a unit holds nothing but recaps of earlier compactions.
fn only_recaps(log: &EventLog, unit: &EventUnit) -> bool {
    log.events()[unit.events.clone()].iter().all(|event| event.view.origin == TextOrigin::Recap)
}

/// Why a narration cannot be in the recap: it has to be of this log, begin behind the head, and tell of events alone that
/// the recap covers. `None` where it can.
fn unfit(
    request: &PlanRequest<'_>,
    layout: &Layout,
    keep_from: usize,
    narrated: &AcceptedNarration,
) -> Option<&'static str> {
    let (log, span) = (request.log, &narrated.span);
    let end = span.end as usize;
    match () {
        () if request.recap.is_some() => Some("the host has a recap of its own"),
        () if narrated.recap_sections().is_empty() => Some("it says nothing"),
        () if span.start as usize != layout.head_end => Some("the head ends elsewhere now"),
        () if end > keep_from => Some("it tells of messages that stay"),
        () if log.hash_before(layout.head_end) != span.before
            || log.hash_before(end) != span.through =>
        {
            Some("it tells of another history")
        }
        () => None,
    }
}

/// Tokens of the head, without the envelope.
pub(super) fn head_tokens(request: &PlanRequest<'_>, scale: CounterScale) -> u64 {
    let layout = layout(request.log, &request.log.units(), request.policy, scale.budget, Some(0));
    request.log.tokens_in(0..layout.head_end)
}

/// The floor as an error: the tokens of each part of the smallest context that can be made.
pub(super) fn floor(request: &PlanRequest<'_>, scale: CounterScale, least: &Context) -> FloorError {
    let log = request.log;
    let units = log.units();
    let layout = layout(log, &units, request.policy, scale.budget, Some(0));
    let middle = units_in(&units, layout.open());
    let pinned = pinned_units(request, &layout, middle);
    let tokens = |unit: &EventUnit| log.tokens_in(unit.events.clone());
    let envelope = log.envelope_tokens();
    let head = log.tokens_in(0..layout.head_end);
    let pinned = middle.iter().filter(|unit| pinned.contains(&unit.events.start)).map(tokens).sum();
    let newest = log.tokens_in(layout.untouched..log.len());
    let of_recap =
        |piece: &&ContextPiece| matches!(piece.fate, PieceFate::Recap | PieceFate::Marker);
    let recap = least.pieces().filter(of_recap).map(|piece| u64::from(piece.tokens)).sum();
    let needed = least.tokens();
    // The parts are measured in the log and the whole in the context, where edits make messages smaller.
    let beside = needed.saturating_sub(envelope + head + pinned + newest + recap);
    let caps = request.budget.with_policy(request.policy).caps(scale.budget);
    let used = |tier: TierName| {
        let events = least.pieces().filter_map(|piece| match piece.fate {
            PieceFate::Verbatim(seq) => log.events().get(seq as usize),
            _ => None,
        });
        events.map(|event| tier.tokens(event)).sum::<u64>()
    };
    let over_tiers = caps.into_iter().map(|(tier, cap)| (tier, used(tier), cap));
    let over_tiers = over_tiers.filter(|(_, used, cap)| used > cap).collect();
    FloorError {
        over_tiers,
        limit: scale.limit,
        needed,
        envelope,
        head,
        pinned,
        newest,
        recap,
        beside,
    }
}
