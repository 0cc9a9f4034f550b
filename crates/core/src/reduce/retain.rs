//! `retain`: results expire by age (after K turns or steps) or by count (all but the last N of a tool). A fixed line
//! replaces the result. The call stays, so the model sees that it happened.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{Middle, MiddleBudget, Reducer, ReducerState, ResultRef};
use crate::policy::{AgeUnit, ReducerName, RetainPolicy as Settings};

/// The reducer `retain`.
pub struct RetainReducer;

/// The limits for one tool; `None` is no limit.
struct RetainLimits {
    age: Option<u32>,
    count: Option<u32>,
}

impl Reducer for RetainReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Retain
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let settings = &state.policy.retain;
        let mut seen: FxHashMap<Cow<'_, str>, u32> = FxHashMap::default();
        let mut newer = vec![0u32; middle.results().len()];
        // Results in the tail count, too, although they never expire.
        for (index, newer) in newer.iter_mut().enumerate().rev() {
            let tool = if settings.across { Cow::Borrowed("") } else { middle.tool(index) };
            let count = seen.entry(tool).or_default();
            *newer = *count;
            *count += 1;
        }
        for (at, index) in middle.open_results() {
            let Some(limits) = limits(middle, index, &state) else { continue };
            let result = &middle.results()[index];
            if let Some(reason) = expired(settings, &limits, result, newer[index]) {
                middle.replace(at, settings.stub.clone(), ReducerName::Retain, reason);
            }
        }
        state
    }
}

/// Why a result expires, as a reason code; `None` where it stays. `newer` is how many later results count with it.
fn expired(
    settings: &Settings,
    limits: &RetainLimits,
    result: &ResultRef<'_>,
    newer: u32,
) -> Option<&'static str> {
    let after = match settings.unit {
        AgeUnit::Steps => result.steps_after,
        AgeUnit::Turns => result.turns_after,
    };
    if limits.age.is_some_and(|age| after > age) {
        return Some("expired-by-age");
    }
    limits.count.is_some_and(|count| newer >= count).then_some("expired-by-count")
}

/// The limits for the tool of a result; `None` where its results never expire.
fn limits(middle: &Middle<'_>, index: usize, state: &ReducerState<'_>) -> Option<RetainLimits> {
    let settings = &state.policy.retain;
    if settings.never_evict.is_empty() && settings.tools.is_empty() {
        return Some(RetainLimits { age: settings.age, count: settings.count });
    }
    let tool = middle.tool(index);
    let kind_name = format!("<{}>", state.tools.lookup(&tool).kind.as_str());
    if settings.never_evicts(&tool, &kind_name) {
        return None;
    }
    let names = |list: &[String]| list.iter().any(|name| *name == tool || *name == kind_name);
    match settings.tools.iter().find(|rule| names(&rule.names)) {
        Some(rule) => Some(RetainLimits { age: rule.age, count: rule.count }),
        None => Some(RetainLimits { age: settings.age, count: settings.count }),
    }
}
