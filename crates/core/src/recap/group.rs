//! Prepares statements for a recap: related ones are joined, and paths are shortened.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::recap::checks::runs_of;
use crate::recap::frame::RecapFrame;
use crate::recap::gather::GatheredFacts;
use crate::recap::statement::{Statement, StatementKind, USED, WANTED};
use crate::recap::wanted_words::WantedWords;

/// A statement, and how many statements were joined in it.
pub(super) struct GroupedStatement {
    pub statement: Statement,
    /// How many statements were joined, itself included.
    pub count: u32,
}

/// Two changes of one file are joined only where at most this many statements lie between them.
const NEAR: usize = 4;
/// At most this many parts of a group are kept.
const PARTS: usize = 60;

/// The statements that a recap may use. Changes of one file in one turn are joined, and changes of scratch files are
/// left out. A change weighs half once a commit holds it. Paths are written without `root`, but for paths that the
/// user wrote.
pub(super) fn group(
    gathered: &GatheredFacts,
    frame: &RecapFrame<'_>,
    root: Option<&str>,
) -> Vec<GroupedStatement> {
    let source = focused(gathered, frame);
    let later = frame.later;
    let mut told: Vec<GroupedStatement> = Vec::new();
    // The newest change of each file in this turn, by the lead of its statement.
    let mut changed: FxHashMap<String, usize> = FxHashMap::default();
    let mut statements: Vec<&Statement> =
        source.iter().map(|one| &**one).filter(|statement| statement.tells()).collect();
    // Statements of an earlier recap come by section, not by message.
    statements.sort_by_key(|statement| statement.message);
    let ran: FxHashSet<u32> = source
        .iter()
        .filter(|statement| matches!(statement.kind, StatementKind::Ran | StatementKind::Failed))
        .map(|statement| statement.message)
        .collect();
    let committed = gathered.history.commits.iter().map(|commit| commit.message).max();
    for statement in statements {
        let mut statement = statement.told();
        if statement.kind == StatementKind::Changed {
            if is_scratch(&statement, gathered) {
                continue;
            }
            if ran.contains(&statement.message) {
                drop_command(&mut statement);
            }
            if committed.is_some_and(|committed| statement.message <= committed) {
                statement.parts.iter_mut().for_each(|part| part.weight /= 2);
            }
        }
        if statement.kind == StatementKind::Failed {
            tell_success(&mut statement, gathered, later);
        }
        if statement.kind == StatementKind::Asked {
            changed.clear();
        } else if let Some(root) = root {
            shorten_paths(&mut statement, root);
        }
        if statement.kind == StatementKind::Changed && statement.lead.ends_with(':') {
            let key = statement.lead.clone();
            let known = changed.get(&key).copied().filter(|at| told.len() - at <= NEAR);
            if let Some(known) = known.and_then(|at| told.get_mut(at)) {
                known.count += 1;
                known.statement.parts.extend(statement.parts);
                known.statement.parts.truncate(PARTS);
                let path = key.trim_end_matches(':');
                known.statement.lead =
                    format!("{path} ({} edits to @{}):", known.count, statement.message);
                continue;
            }
            changed.insert(key, told.len());
        }
        told.push(GroupedStatement { statement, count: 1 });
    }
    told
}

/// The statements, with the output that holds words of the focus. Without a focus, the words of the open request
/// count, but only for look-ups that the agent did not comment on.
fn focused<'a>(gathered: &'a GatheredFacts, frame: &RecapFrame<'_>) -> Vec<Cow<'a, Statement>> {
    let statements = &gathered.statements;
    let is_asked = !frame.focus.is_empty();
    let (words, weight) = if is_asked { (frame.focus, WANTED) } else { (frame.open, USED) };
    let Some(wanted) = WantedWords::of(words, weight) else {
        return statements.iter().map(Cow::Borrowed).collect();
    };
    let says = |one: &Statement| matches!(one.kind, StatementKind::Said | StatementKind::Concluded);
    // For the message that follows: its number, and whether the assistant comments there. Statements are visited
    // from the newest to the oldest.
    let (mut next, mut own) = ((u32::MAX, false), (u32::MAX, false));
    let seen = |one: &'a Statement| {
        if own.0 != one.message {
            next = own;
        }
        own = (one.message, says(one));
        let is_wanted = is_asked || !next.1;
        let focused = is_wanted.then(|| one.focused(&wanted)).flatten();
        focused.map_or(Cow::Borrowed(one), Cow::Owned)
    };
    let mut all: Vec<Cow<'a, Statement>> = statements.iter().rev().map(seen).collect();
    all.reverse();
    all
}

/// Whether all files that a statement changed are scratch: temporary, or removed again.
fn is_scratch(statement: &Statement, gathered: &GatheredFacts) -> bool {
    let paths = paths_of(statement).split(", ");
    paths.clone().all(|path| gathered.files.get(path).is_some_and(|used| used.scratch))
}

/// The files of a change, as its lead lists them.
fn paths_of(statement: &Statement) -> &str {
    let lead = statement.lead.as_str();
    let end = [": `", " (written", " ("].iter().filter_map(|mark| lead.find(mark)).min();
    lead[..end.unwrap_or(lead.len())].trim_end_matches(':')
}

/// Removes the command from a change, because another statement reports the same run.
fn drop_command(statement: &mut Statement) {
    if let Some(at) = statement.lead.find(": `") {
        statement.lead.truncate(at);
    }
}

/// Notes in a failed statement that the command passed later, and halves its weight.
fn tell_success(
    statement: &mut Statement,
    gathered: &GatheredFacts,
    later: Option<&GatheredFacts>,
) {
    let checks = gathered.checks.iter().chain(later.into_iter().flat_map(|later| &later.checks));
    let told = statement.lead.split(LATER).next().unwrap_or_default();
    let command = told.trim_end_matches(':').trim_matches('`').to_owned();
    let runs = runs_of(&command);
    let passed = checks
        .filter(|check| check.passed && check.message > statement.message)
        .filter(|check| check.covers(&runs));
    if let Some(message) = passed.map(|check| check.message).min() {
        statement.lead = format!("`{command}`{LATER}{message}):");
        statement.parts.iter_mut().for_each(|part| part.weight /= 2);
    }
}

/// The words that say when a failed command passed.
const LATER: &str = " (ok at @";

/// The folder that holds at least three quarters of the files with an absolute path, with its last `/`. `None`
/// where there is no such folder. Of several nested folders, the innermost.
pub(super) fn common_root(gathered: &GatheredFacts) -> Option<String> {
    let absolute = || gathered.files.keys().filter(|path| path.starts_with('/'));
    let count = absolute().count();
    let mut holds: FxHashMap<&str, usize> = FxHashMap::default();
    for path in absolute() {
        // `/home/` alone says nothing, so folders at the top are left out.
        for (at, _) in path.match_indices('/').skip(2) {
            *holds.entry(&path[..=at]).or_default() += 1;
        }
    }
    let most = holds.into_iter().filter(|(_, held)| *held > 1 && held * 4 >= count * 3);
    // The hash map has no order, so the text decides between folders of equal length.
    most.map(|(root, _)| root).max_by_key(|root| (root.len(), *root)).map(str::to_owned)
}

fn shorten_paths(statement: &mut Statement, root: &str) {
    let replace = |text: &mut String| {
        if text.contains(root) {
            *text = text.replace(root, "");
        }
    };
    replace(&mut statement.lead);
    statement.parts.iter_mut().for_each(|part| replace(&mut part.text));
}
