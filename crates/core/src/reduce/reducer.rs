//! The interface of a reducer: a pure rule over a middle, with a budget and a state that is handed on.

use super::middle::Middle;
use crate::budget::TierName;
use crate::policy::{Policy, ReducerName};
use crate::tools::ToolTable;
use crate::unit::EventUnit;

/// The tokens that are left for the middle. A value, so that further limits change no signature (projection note: "the
/// one thing to get right now").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MiddleBudget {
    /// The tokens that the middle may have after the fold.
    pub tokens: u64,
    /// The tokens that the middle may have without a recap, if reducers freed some; at least `tokens`.
    pub enough: u64,
    /// The most tokens of a recap of the middle.
    pub recap: u64,
    /// Caps of classes of content over the whole context, in tokens.
    pub tiers: Vec<(TierName, u64)>,
}

/// The inputs of a reducer besides the middle and the budget, and the state that it hands on.
#[derive(Clone)]
pub struct ReducerState<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The table of tools.
    pub tools: &'a ToolTable,
    /// The units of the middle.
    pub units: &'a [EventUnit],
    /// First event that a recap of the whole middle leaves out.
    pub cover_end: usize,
    /// First event behind the recaps that the log itself holds. A new recap covers these.
    pub after_recap: usize,
    /// The state that a reducer hands to the next one, and to the fold.
    pub carried: CarriedState,
}

impl<'a> ReducerState<'a> {
    /// The state for rules that run without a recap after them.
    pub(crate) fn alone(policy: &'a Policy, tools: &'a ToolTable) -> Self {
        let carried = CarriedState { covered_to: 0 };
        Self { policy, tools, units: &[], cover_end: 0, after_recap: 0, carried }
    }
}

/// The state that reducers hand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedState {
    /// The event at which the recap's covered part ends; the start of the middle where there is no recap.
    pub covered_to: usize,
}

/// A pure rule over the middle. It is the projection note's `reduce(context, budget, state) -> {context, state}`,
/// except that the context is the middle alone and is edited in place.
pub trait Reducer {
    /// The name in policies and records.
    fn name(&self) -> ReducerName;

    /// Edits the middle, and returns the state for the next reducer.
    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        budget: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a>;
}
