//! Drops the branches of the tree that are not sent: those that a person went back from, and those of an earlier
//! session.

use std::collections::HashMap;

use super::record::{RecordKind, RecordLine};
use crate::read::source::InputSource;

/// Drops abandoned branches. A person who goes back and asks anew leaves one behind: of the user messages with the same
/// parent, only the one with the newest descendant is in the context. Records of tools branch too, and those branches
/// all stay.
pub(super) fn drop_abandoned(source: &mut InputSource<'_>, lines: &mut [RecordLine]) {
    // The echo of a command, such as `/exit` or `/login`, counts as older than anything that a person wrote.
    let age = |at: usize| if lines[at].is_echo { at } else { at + lines.len() };
    let mut newest: Vec<usize> = (0..lines.len()).map(age).collect();
    for at in (0..lines.len()).rev() {
        if let Some(parent) = lines[at].parent {
            newest[parent] = newest[parent].max(newest[at]);
        }
    }
    // For each parent (or the root of each conversation), the user message with the newest descendant.
    let mut by_place: HashMap<(Option<usize>, usize), usize> = HashMap::new();
    let place = |line: &RecordLine| (line.parent, line.group);
    let asks = |line: &RecordLine| {
        line.kind == RecordKind::RealUser && (line.parent.is_some() || line.is_root)
    };
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| asks(line)) {
        let best = by_place.entry(place(line)).or_insert(at);
        if newest[at] > newest[*best] {
            *best = at;
        }
    }
    let mut count = 0;
    let mut first = None;
    for at in 0..lines.len() {
        let line = &lines[at];
        let is_abandoned = asks(line) && by_place.get(&place(line)) != Some(&at);
        // A parent comes before its children, so one pass drops whole branches.
        if is_abandoned || line.parent.is_some_and(|parent| lines[parent].dropped) {
            lines[at].dropped = true;
            if !lines[at].message.is_empty() {
                count += 1;
                first = first.or(Some(lines[at].message.range.start));
            }
        }
    }
    if let Some(first) = first {
        let detail =
            format!("{count} records of branches that the user went back from are left out");
        source.note(first, "abandoned-branch", detail);
    }
}

/// Drops the records of an earlier session. A session that begins with an accepted plan, or continues in a new file,
/// may start with them: their chain starts at a record of another file. Where the newest chain starts at a root of this
/// file, nothing before that root is sent.
pub(super) fn drop_session_before(source: &mut InputSource<'_>, lines: &mut [RecordLine]) {
    // A parent comes before its children, so one pass is enough.
    let mut starts: Vec<usize> = (0..lines.len()).collect();
    for at in 0..lines.len() {
        if let Some(parent) = lines[at].parent {
            starts[at] = starts[parent];
        }
    }
    // For each conversation, the newest record before the first compaction.
    let mut newest: HashMap<usize, usize> = HashMap::new();
    let mut compacted: HashMap<usize, usize> = HashMap::new();
    let is_beside = |line: &RecordLine| matches!(line.kind, RecordKind::Beside(_));
    let is_message =
        |line: &RecordLine| !line.message.is_empty() && !line.is_echo && !is_beside(line);
    for (at, line) in lines.iter().enumerate() {
        if line.kind == RecordKind::Boundary {
            compacted.entry(line.group).or_insert(at);
        } else if is_message(line) && !line.dropped && !compacted.contains_key(&line.group) {
            newest.insert(line.group, at);
        }
    }
    let (mut count, mut first) = (0, None);
    for at in 0..lines.len() {
        let Some(root) = newest.get(&lines[at].group).map(|newest| starts[*newest]) else {
            continue;
        };
        let is_foreign = !lines[starts[at]].is_root && at < root && lines[root].is_root;
        if is_foreign && !lines[at].dropped && !lines[at].message.is_empty() {
            lines[at].dropped = true;
            count += 1;
            first = first.or(Some(lines[at].message.range.start));
        }
    }
    if let Some(first) = first {
        let detail = format!("{count} records of the session before are left out");
        source.note(first, "session-before", detail);
    }
}
