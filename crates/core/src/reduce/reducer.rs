//! What a reducer is: a pure rule over a middle, with a budget and a state that is handed on.

use super::middle::Middle;
use crate::budget::TierName;
use crate::policy::{Policy, ReducerName};
use crate::tools::ToolTable;
use crate::unit::EventUnit;

/// What is left for the middle. A value, so that further limits change no signature (projection
/// note: "the one thing to get right now").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MiddleBudget {
    /// What the middle may still cost, in tokens.
    pub tokens: u64,
    /// What it may cost without a recap, where reducers found something: at least `tokens`.
    pub enough: u64,
    /// What a recap of it may cost.
    pub recap: u64,
    /// Caps of classes of content over the whole context, in tokens.
    pub tiers: Vec<(TierName, u64)>,
}

/// What reducers know besides the middle and the budget, and what they hand on.
#[derive(Clone)]
pub struct ReducerState<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// What tools are.
    pub tools: &'a ToolTable,
    /// The units of the middle.
    pub units: &'a [EventUnit],
    /// First event that a recap of the whole middle leaves out.
    pub cover_end: usize,
    /// First event behind the recaps that the log itself holds: a new one covers them.
    pub after_recap: usize,
    /// What a reducer hands to those after it, and to the fold.
    pub carried: CarriedState,
}

impl<'a> ReducerState<'a> {
    /// The state for rules that are run by themselves, where no recap follows.
    pub(crate) fn alone(policy: &'a Policy, tools: &'a ToolTable) -> Self {
        let carried = CarriedState { covered_to: 0 };
        Self { policy, tools, units: &[], cover_end: 0, after_recap: 0, carried }
    }
}

/// State that is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedState {
    /// The recap covers the middle up to this event; its start where there is none.
    pub covered_to: usize,
}

/// A pure rule. The projection note's `reduce(context, budget, state) -> {context, state}`: the
/// context is the middle alone, and the rule edits it in place.
pub trait Reducer {
    /// Its name in policies and records.
    fn name(&self) -> ReducerName;

    /// Edits the middle, and returns the state for the next one.
    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        budget: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a>;
}
