//! `recap`: decides how much the recap covers. That is the whole middle, or the oldest part that exceeds the budget.

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::policy::{CoverExtent, ReducerName};

/// The reducer `recap`.
pub struct RecapReducer;

impl Reducer for RecapReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Recap
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        budget: &MiddleBudget,
        mut state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let fits = middle.tokens() <= budget.tokens
            || middle.has_edits() && middle.tokens() <= budget.enough;
        state.carried.covered_to = match state.policy.recap.cover {
            CoverExtent::Middle => state.cover_end,
            CoverExtent::Overflow if fits => state.carried.covered_to,
            CoverExtent::Overflow => {
                let beside_recap = budget.tokens.saturating_sub(budget.recap);
                newest_that_fit(middle, &state, beside_recap).max(state.after_recap)
            }
        };
        state
    }
}

/// The first event of the longest suffix of units that fits into `room` tokens, with all edits so far.
fn newest_that_fit(middle: &Middle<'_>, state: &ReducerState<'_>, room: u64) -> usize {
    let mut sum = 0;
    let mut from = state.units.last().map_or(0, |unit| unit.events.end);
    for unit in state.units.iter().rev() {
        sum += unit.events.clone().map(|at| middle.tokens_of(at)).sum::<u64>();
        if sum > room {
            break;
        }
        from = unit.events.start;
    }
    from
}
