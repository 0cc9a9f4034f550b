//! `supersede`: a read is stale once the same path is read again or written later.
//!
//! A later *partial* read makes only a read of the same part stale; a later write makes all reads stale.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::policy::ReducerName;
use crate::tools::CallFacts;

/// The reducer `supersede`.
pub struct SupersedeReducer;

/// What happens to a path after a result, found while walking from the newest result back.
#[derive(Clone, Copy, Default)]
struct LaterReads {
    /// Whether the path is written later.
    written: bool,
    /// Whether the whole file is read later.
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
                && !result.is_shorter_than(min)
                && let Some(at) = result.block
            {
                stale.push((at, facts.reads.join(", "), reason));
            }
            // Only now, else the result would supersede itself.
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

/// The paths that are read, each with its range of lines; `None` is the whole file.
type ReadParts = FxHashSet<(String, Option<(u64, u64)>)>;

/// Why a read is stale, as a reason code. `None` where it is not, or where only some of its paths are.
fn reason(
    facts: &CallFacts,
    later: &FxHashMap<String, LaterReads>,
    parts: &ReadParts,
) -> Option<&'static str> {
    // A command that also writes is more than a read.
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
