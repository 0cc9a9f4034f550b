//! `window`: a turn or token cap on plain dialogue (seed 004). Off unless a cap is set.

use super::{BlockRef, Middle, Reducer, State};
use crate::policy::ReducerName;
use crate::view::{BlockKind, Role};

/// See the module.
pub struct Window;

/// What capped dialogue says.
pub const CAPPED: &str = "[earlier dialogue removed]";

impl Reducer for Window {
    fn name(&self) -> ReducerName {
        ReducerName::Window
    }

    fn reduce(&self, middle: &mut Middle<'_>, _budget: u64, state: &State<'_>) {
        let settings = &state.policy.window;
        if settings.turns.is_none() && settings.tokens.is_none() {
            return;
        }
        let dialogue: Vec<(BlockRef, u32, u64)> = middle
            .blocks()
            .filter(|(_, event, block)| {
                matches!(event.view.role, Role::User | Role::Assistant)
                    && matches!(block.kind, BlockKind::Text)
            })
            .map(|(at, event, block)| {
                let index = event.view.blocks.iter().position(|other| other == block);
                let tokens = index.and_then(|i| event.tokens.blocks.get(i)).copied().unwrap_or(0);
                (at, event.turn, u64::from(tokens))
            })
            .collect();
        let newest = dialogue.iter().map(|(_, turn, _)| *turn).max().unwrap_or(0);
        let mut kept = 0u64;
        for (at, turn, tokens) in dialogue.into_iter().rev() {
            kept += tokens;
            let by_turn = settings.turns.is_some_and(|turns| newest - turn >= turns);
            let by_tokens = settings.tokens.is_some_and(|cap| kept > cap);
            if by_turn || by_tokens {
                middle.replace(at, CAPPED.to_owned(), ReducerName::Window, "dialogue-capped");
            }
        }
    }
}
