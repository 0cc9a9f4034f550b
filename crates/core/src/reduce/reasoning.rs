//! `reasoning`: removes reasoning from the middle. Reasoning that a provider ties to the messages before it is void
//! after a fold in any case; other reasoning explains steps whose outcome is known.

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::policy::ReducerName;
use crate::view::BlockKind;

/// The reducer `reasoning`.
pub struct ReasoningReducer;

impl Reducer for ReasoningReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Reasoning
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let reasoning = |kind: &BlockKind| matches!(kind, BlockKind::Reasoning { .. });
        let blocks: Vec<_> =
            middle.blocks().filter(|(_, _, b)| reasoning(&b.kind)).map(|(at, _, _)| at).collect();
        for at in blocks {
            middle.remove(at, ReducerName::Reasoning, "reasoning-dropped");
        }
        state
    }
}
