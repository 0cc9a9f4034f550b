//! Covers the oldest span: all of the middle, or the part of it that is still over the budget.

use super::{Budget, Middle, Reducer, State};
use crate::policy::{Cover, ReducerName};

/// See the module.
pub struct Recap;

impl Reducer for Recap {
    fn name(&self) -> ReducerName {
        ReducerName::Recap
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        budget: &Budget,
        mut state: State<'a>,
    ) -> State<'a> {
        let fits = middle.tokens() <= budget.tokens
            || middle.has_edits() && middle.tokens() <= budget.enough;
        state.carried.covered_to = match state.policy.recap.cover {
            Cover::Middle => state.cover_end,
            Cover::Overflow if fits => state.carried.covered_to,
            Cover::Overflow => {
                let beside_recap = budget.tokens.saturating_sub(budget.recap);
                newest_that_fit(middle, &state, beside_recap).max(state.after_recap)
            }
        };
        state
    }
}

/// The first event of the longest suffix of units that fits, edits counted.
fn newest_that_fit(middle: &Middle<'_>, state: &State<'_>, room: u64) -> usize {
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
