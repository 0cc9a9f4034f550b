//! The deeds that a recap may tell: edits of one file are joined, and failures that are over say so.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::recap::checks::CheckResult;
use crate::recap::deed::{CallEnding, Deed, DeedKind, FileEdit};
use crate::recap::gather::GatheredFacts;
use crate::recap::words::WordTable;

/// Two edits of one file are joined only where at most this many deeds lie between them.
const NEAR: usize = 4;

/// The deeds in the order of their messages. Edits of the same files in one turn are joined. `later` are facts of
/// messages behind the recap.
pub(super) fn tellable<'a>(
    gathered: &'a GatheredFacts,
    later: Option<&'a GatheredFacts>,
) -> Vec<Cow<'a, Deed>> {
    let mut deeds: Vec<&Deed> = gathered.deeds.iter().filter(|deed| deed.times > 0).collect();
    // Deeds of an earlier recap come by section, not by message.
    deeds.sort_by_key(|deed| deed.message);
    let calls: FxHashSet<u32> =
        deeds.iter().filter(|deed| deed.ending().is_some()).map(|deed| deed.message).collect();
    let checks = || gathered.checks.iter().chain(later.into_iter().flat_map(|later| &later.checks));
    let mut joined: Vec<Cow<'a, Deed>> = Vec::with_capacity(deeds.len());
    // The newest edit of each list of files in this turn.
    let mut edited: FxHashMap<&[String], usize> = FxHashMap::default();
    for deed in deeds {
        match &deed.kind {
            DeedKind::Change(edit) => {
                let known = edited.get(&edit.files[..]).copied();
                if let Some(before) = known.filter(|at| joined.len() - at <= NEAR)
                    && join(&mut joined[before], deed, edit, &gathered.words)
                {
                    continue;
                }
                edited.insert(&edit.files, joined.len());
                // The call has a deed of its own.
                if edit.command.is_some() && calls.contains(&deed.message) {
                    let mut deed = deed.clone();
                    deed.kind = DeedKind::Change(FileEdit { command: None, ..edit.clone() });
                    joined.push(Cow::Owned(deed));
                    continue;
                }
            }
            DeedKind::Call(call) if call.ending == CallEnding::Failed => {
                if let Some(over) = passed_at(deed, checks()) {
                    let mut deed = deed.clone();
                    deed.end(CallEnding::Settled(over));
                    joined.push(Cow::Owned(deed));
                    continue;
                }
            }
            DeedKind::Words(_) if deed.is_users() => edited.clear(),
            _ => {}
        }
        joined.push(Cow::Borrowed(deed));
    }
    joined
}

/// Joins an edit with an earlier one of the same files. Returns whether they can be joined.
fn join(before: &mut Cow<'_, Deed>, deed: &Deed, edit: &FileEdit, table: &WordTable) -> bool {
    let joins = |kind: &DeedKind| match kind {
        DeedKind::Change(known) => {
            !known.removed && !edit.removed && known.command.is_none() && edit.command.is_none()
        }
        _ => false,
    };
    if !joins(&before.kind) {
        return false;
    }
    let before = before.to_mut();
    if let DeedKind::Change(known) = &mut before.kind {
        known.edits += deed.times * edit.edits;
        known.last = edit.last.max(deed.message);
        known.written = edit.written.or(known.written);
    }
    let bound = before.bound.take();
    before.parts.extend(deed.parts.iter().cloned());
    if let (Some(bound), Some(other)) = (bound, &deed.bound) {
        before.bound = Some(Arc::new(bound.joined(other, before, table)));
    }
    true
}

/// The number of the message in which the checks of a failed call passed later.
fn passed_at<'a>(deed: &Deed, checks: impl Iterator<Item = &'a CheckResult>) -> Option<u32> {
    let DeedKind::Call(call) = &deed.kind else { return None };
    checks
        .filter(|check| check.passed && check.message > deed.message && check.covers(&call.runs))
        .map(|check| check.message)
        .min()
}
