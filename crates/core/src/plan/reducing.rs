//! Runs the reducers over the middle.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::limits::CounterScale;
use super::request::PlanRequest;
use crate::fold::PrunedCount;
use crate::layout::Layout;
use crate::log::{Event, EventLog};
use crate::policy::{CoverExtent, RecapSource, ReducerName};
use crate::profile::ReasoningText;
use crate::reduce::{
    BlockChange, CarriedState, EventEdits, Middle, MiddleBudget, ReducerState, edited_event,
    reducer, spare_spoken, with_edited,
};
use crate::tools::ToolTable;
use crate::trigger::FoldCause;
use crate::unit::EventUnit;
use crate::view::TextOrigin;

/// The edits of the middle, by event.
pub(super) type MiddleEdits = FxHashMap<usize, EventEdits>;

/// The tokens that the middle may cost after the fold, in counted tokens.
#[derive(Clone, Copy)]
pub(super) struct MiddleRoom {
    /// The target less head and tail.
    pub spare: u64,
    /// If reducers alone bring the middle below this, no recap is made. Larger than `spare` where a person asked for
    /// less than the policy's target.
    pub enough: u64,
    /// The recap's cap.
    pub cap: u64,
}

/// The result of the reducers.
pub(super) struct ReducedMiddle {
    /// The first event of the middle that no recap covers.
    pub keep_from: usize,
    /// The edits, including those of covered events.
    pub edits: MiddleEdits,
}

/// Runs the policy's reducers in order over the middle, each on the result of the one before.
pub(super) fn reduce(
    request: &PlanRequest<'_>,
    scale: CounterScale,
    layout: &Layout,
    middle: &[EventUnit],
    is_pinned: &impl Fn(&EventUnit) -> bool,
    room: MiddleRoom,
    tools: &ToolTable,
) -> ReducedMiddle {
    let policy = request.policy;
    let log = request.log;
    let covers = policy.reducers.contains(&ReducerName::Recap);
    let tiers = request.budget.with_policy(policy).caps(scale.budget);
    let alone = policy.reducers == [ReducerName::Recap] && tiers.is_empty();
    // Only a recap of the whole middle: no other reducer has to look at the events.
    if alone && policy.recap.cover == CoverExtent::Middle {
        return ReducedMiddle { keep_from: layout.cover_end, edits: MiddleEdits::default() };
    }
    let range = layout.open();
    let mut editable = vec![false; range.len()];
    for unit in middle.iter().filter(|unit| !is_pinned(unit)) {
        editable[unit.events.start - range.start..unit.events.end - range.start].fill(true);
    }
    // A recap may cover messages that pruning leaves alone.
    editable
        .get_mut(layout.edits_end.saturating_sub(range.start)..)
        .into_iter()
        .for_each(|flags| flags.fill(false));
    spare_spoken(log, &range, tools, &mut editable);
    let mut edited = Middle::new(log.events(), range, editable, &**log.counter(), tools);
    let most_without_recap = most_without_recap(request, scale, layout, room);
    // Where a recap covers only the overflow, it covers enough at once to reach the target.
    let tokens = if most_without_recap.is_some() { room.enough } else { room.spare };
    let budget = MiddleBudget { tokens, enough: room.enough, recap: room.cap, tiers };
    let mut state = ReducerState {
        policy,
        tools,
        units: middle,
        cover_end: layout.cover_end,
        after_recap: after_last_recap(log, layout),
        carried: CarriedState { covered_to: layout.head_end },
    };
    for name in policy.reducers.iter().filter(|name| **name != ReducerName::Recap) {
        // A model that wants the reasoning of its messages back is not content with blank ones.
        let wants_reasoning = log.profile().reasoning_text > ReasoningText::Free;
        if *name == ReducerName::Reasoning && wants_reasoning {
            continue;
        }
        // Reducers that lose content run only as long as the middle is too large. Where the recap reads reduced events,
        // they always run.
        let by_need = name.by_need() && policy.recap.reads == RecapSource::Log;
        if !(by_need && edited.tokens() <= room.spare) {
            state = reducer(*name).reduce(&mut edited, &budget, state);
        }
    }
    crate::reduce::enforce(&mut edited, &budget, &policy.retain.stub);
    if covers && most_without_recap.is_none_or(|most| edited.tokens() > most) {
        state = reducer(ReducerName::Recap).reduce(&mut edited, &budget, state);
    }
    ReducedMiddle { keep_from: state.carried.covered_to, edits: edited.into_edits() }
}

/// The tokens that the middle may cost without a recap, for policies whose recap covers only the overflow. Such a
/// policy runs the free reducers first, and folds only if head, tail and the reduced middle are still above the line
/// (projection note).
///
/// `None` where that rule does not apply. Either the policy covers the whole middle, or somebody asked for a size, or
/// the provider refused the request, or an earlier draft was too large. Or nothing is due yet, and the caller asks
/// ahead of time what to narrate.
fn most_without_recap(
    request: &PlanRequest<'_>,
    scale: CounterScale,
    layout: &Layout,
    room: MiddleRoom,
) -> Option<u64> {
    let PlanRequest { log, policy, cause, ahead, .. } = *request;
    let all = log.envelope_tokens() + log.tokens_in(0..log.len());
    let ends = all - log.tokens_in(layout.open());
    let tokens = request.budget.with_policy(policy).tokens();
    let scaled = |tokens| CounterScale::new(tokens, None, &request.meter).budget.min(scale.limit);
    let line = scaled(policy.trigger.line(tokens).tokens);
    let policy_target = policy.fold.target.of(scale.budget).min(scale.limit);
    let is_rule = policy.recap.cover == CoverExtent::Overflow
        && scale.wanted.is_none()
        && cause != FoldCause::Overflow
        && room.enough == policy_target.saturating_sub(ends);
    // A fold that frees less than the policy's least gain is not made, so reducers alone have to free that much.
    let most = line.saturating_sub(policy.fold.min_reclaim.of(scale.budget).max(1));
    // The model's text has to be there by then, so a model is asked before.
    let most = if ahead { most.min(scaled(policy.trigger.buffer_tokens(tokens))) } else { most };
    (is_rule && !(ahead && all < line)).then(|| most.saturating_sub(ends).max(room.enough))
}

/// The position after the last recap in the middle. A new recap covers at least to here, so that no old recap stays
/// beside it.
fn after_last_recap(log: &EventLog, layout: &Layout) -> usize {
    let middle = &log.events()[layout.open()];
    let last = middle.iter().rposition(|event| event.view.origin == TextOrigin::Recap);
    last.map_or(layout.head_end, |at| layout.head_end + at + 1)
}

/// The edits of covered events, summed up by reducer and reason.
pub(super) fn pruned_counts(edits: &MiddleEdits) -> Vec<PrunedCount> {
    let mut sums: BTreeMap<(ReducerName, &str), PrunedCount> = BTreeMap::new();
    for (_, edited) in edits.values().flatten() {
        let sum = sums.entry((edited.reducer, edited.reason)).or_insert_with(|| PrunedCount {
            reducer: edited.reducer,
            reason: edited.reason.to_owned(),
            blocks: 0,
            tokens_before: 0,
            tokens_after: 0,
        });
        sum.blocks += 1;
        sum.tokens_before += u64::from(edited.tokens_before);
        sum.tokens_after += u64::from(edited.tokens_after);
    }
    sums.into_values().collect()
}

/// The covered events as a computed recap reads them. Results that expired become empty: the line that replaces them
/// would be read as an output of the tool. `None` where no covered event was edited.
pub(super) fn covered_for_recap(
    log: &EventLog,
    covered: &[usize],
    edits: &MiddleEdits,
) -> Option<Vec<Event>> {
    let edited = covered.iter().filter_map(|at| Some((*at, edits.get(at)?)));
    let inputs = edited.map(|(at, edits)| {
        let mut edits = edits.clone();
        for (_, edited) in &mut edits {
            if edited.reducer == ReducerName::Retain {
                edited.change = BlockChange::Replace(String::new());
            }
        }
        (at, edited_event(log, at, &edits))
    });
    with_edited(log, inputs)
}
