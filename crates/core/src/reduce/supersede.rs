//! `supersede`: a later read or write of the same path makes an earlier read stale.
//!
//! A later *partial* read only supersedes a read of the same part; a write supersedes all.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::policy::ReducerName;
use crate::tools::CallFacts;

/// See the module.
pub struct SupersedeReducer;

#[derive(Clone, Copy, Default)]
struct LaterReads {
    /// Index of the newest write seen while walking back.
    written: bool,
    /// The newest whole read.
    whole: bool,
}

impl Reducer for SupersedeReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Supersede
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let min = state.policy.supersede.min_chars;
        let mut later: FxHashMap<String, LaterReads> = FxHashMap::default();
        let mut parts = ReadParts::default();
        let mut stale = Vec::new();
        for (index, result) in middle.results().iter().enumerate().rev() {
            let facts = middle.facts(index);
            if let Some(reason) = reason(&facts, &later, &parts)
                && result.view.outer.len() >= min
                && let Some(at) = result.block
            {
                stale.push((at, facts.reads.join(", "), reason));
            }
            for path in &facts.writes {
                later.entry(path.clone()).or_default().written = true;
            }
            for path in &facts.reads {
                let entry = later.entry(path.clone()).or_default();
                entry.whole |= facts.range.is_none();
                parts.insert((path.clone(), facts.range));
            }
        }
        for (at, path, reason) in stale {
            let what = if reason == "written-later" { "changed" } else { "read again" };
            let text = format!("[stale read of {path}: it was {what} later]");
            middle.replace(at, text, ReducerName::Supersede, reason);
        }
        state
    }
}

/// Paths with the lines that were read of them; `None` is the whole file.
type ReadParts = FxHashSet<(String, Option<(u64, u64)>)>;

/// Why a read is stale, if all of its paths are.
fn reason(
    facts: &CallFacts,
    later: &FxHashMap<String, LaterReads>,
    parts: &ReadParts,
) -> Option<&'static str> {
    // A command that also wrote is no mere read.
    if facts.reads.is_empty() || !facts.writes.is_empty() {
        return None;
    }
    let state = |path: &String| later.get(path).copied().unwrap_or_default();
    let again = |path: &String| state(path).whole || parts.contains(&(path.clone(), facts.range));
    if facts.reads.iter().all(again) {
        Some("read-later")
    } else if facts.reads.iter().all(|path| state(path).written || again(path)) {
        Some("written-later")
    } else {
        None
    }
}
