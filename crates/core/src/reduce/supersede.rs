//! `supersede`: a read is stale once the same path is read again or written later.
//!
//! A later *partial* read makes only a read of the same part stale; a later write makes all reads stale. A read or write
//! that failed makes nothing stale. A command that does more than read stays, whatever happens to its files.

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
        let (min, tools) = (state.policy.supersede.min_chars, state.tools);
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
            // Most results read and write no file, so they need no outcome.
            if facts.reads.is_empty() && facts.writes.is_empty() {
                continue;
            }
            let outcome = result.outcome(&facts, tools);
            // Only now, else the result would supersede itself.
            if facts.may_have_written(&outcome) {
                for path in &facts.writes {
                    later.entry(path.clone()).or_default().written = true;
                }
            }
            if outcome.may_show() {
                for path in &facts.reads {
                    let entry = later.entry(path.clone()).or_default();
                    entry.whole |= facts.range.is_none();
                    parts.extend(known_part(&facts).map(|part| (path.clone(), part)));
                }
            }
        }
        for (at, path, reason) in stale {
            let change = if reason == "written-later" { "changed" } else { "read again" };
            let text = format!("[stale read of {path}: it was {change} later]");
            middle.replace(at, text, ReducerName::Supersede, reason);
        }
        state
    }
}

/// The paths of which a part is read, each with its range of lines.
type ReadParts = FxHashSet<(String, (u64, u64))>;

/// The range of lines that a call reads. `None` where it reads whole files, where the range is not known, and where it
/// may be that of another file. Two unknown parts of a file need not be the same.
fn known_part(facts: &CallFacts) -> Option<(u64, u64)> {
    facts.range.filter(|range| *range != (0, 0) && facts.reads.len() == 1)
}

/// Why a read is stale, as a reason code. `None` where it is not, or where only some of its paths are.
fn reason(
    facts: &CallFacts,
    later: &FxHashMap<String, LaterReads>,
    parts: &ReadParts,
) -> Option<&'static str> {
    if facts.reads.is_empty() {
        return None;
    }
    let state = |path: &String| later.get(path).copied().unwrap_or_default();
    let part = known_part(facts);
    let in_part = |path: &String| part.is_some_and(|part| parts.contains(&(path.clone(), part)));
    let again = |path: &String| state(path).whole || in_part(path);
    let reason = if facts.reads.iter().all(again) {
        "read-later"
    } else if facts.reads.iter().all(|path| state(path).written || again(path)) {
        "written-later"
    } else {
        return None;
    };
    // The last test, because it reads the command.
    facts.shows_only_reads().then_some(reason)
}
