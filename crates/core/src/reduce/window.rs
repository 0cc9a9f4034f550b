//! `window`: a cap on plain dialogue, in turns or tokens (projection note). Off unless the policy sets a cap.

use super::{BlockRef, Middle, MiddleBudget, Reducer, ReducerState};
use crate::budget::TierName;
use crate::policy::ReducerName;

/// The reducer `window`.
pub struct WindowReducer;

/// The text in the place of capped dialogue.
pub const CAPPED: &str = "[earlier dialogue removed]";

impl Reducer for WindowReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Window
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let settings = &state.policy.window;
        if settings.turns.is_none() && settings.tokens.is_none() {
            return state;
        }
        let newest = middle.newest_turn();
        // Dialogue after the middle counts, too, because the cap is on the whole context.
        let mut total = middle.after().map(|event| TierName::Dialogue.tokens(event)).sum::<u64>();
        let dialogue: Vec<(BlockRef, u32, u64)> = middle
            .blocks()
            .filter(|(_, event, block)| TierName::of(event, block) == Some(TierName::Dialogue))
            .map(|(at, event, _)| (at, event.turn, middle.tokens_at(at)))
            .collect();
        for (at, turn, tokens) in dialogue.into_iter().rev() {
            total += tokens;
            let by_turn = settings.turns.is_some_and(|turns| newest - turn >= turns);
            let by_tokens = settings.tokens.is_some_and(|cap| total > cap);
            if by_turn || by_tokens {
                middle.replace(at, CAPPED.to_owned(), ReducerName::Window, "dialogue-capped");
            }
        }
        state
    }
}
