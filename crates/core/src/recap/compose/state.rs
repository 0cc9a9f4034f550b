//! The state: what is known to be so now.

use super::Writer;
use crate::recap::checks::Check;
use crate::recap::escape;
use crate::recap::gather::{FileUse, Gathered};
use crate::recap::history::{Commit, History, Request};
use crate::recap::{section, state};

/// Most checks that are told.
const CHECKS: usize = 8;
/// After so many messages a failure that was not tried again says nothing of now.
const PAST: u32 = 100;
/// Most files that are named.
const FILES: usize = 12;

impl Writer<'_> {
    /// The to-do list, the newest verdict of each check, what is committed, pushed and changed since.
    pub(super) fn state(&mut self, allowed: u64) {
        let mut lines = self.todo();
        lines.extend(self.checks());
        lines.extend(self.history());
        self.list(section::STATE, lines.into_iter().enumerate().collect(), allowed);
    }

    fn todo(&self) -> Vec<String> {
        let later = self.frame.later.is_some_and(|later| later.todo.is_some());
        let Some(todo) = self.gathered.todo.as_ref().filter(|_| !later) else { return Vec::new() };
        let head = format!("{}{}:\n", state::TODO, todo.message);
        let items = todo.text.lines().map(|line| format!("  {}\n", escape::inline(line, 200)));
        std::iter::once(head).chain(items).collect()
    }

    /// Checks, the newest first, without those that a message which stays says more of.
    fn checks(&self) -> Vec<String> {
        let later = || self.frame.later.into_iter().flat_map(|later| &later.checks);
        let stands = |check: &&Check| {
            !later().any(|newer| newer.supersedes(check)) && (check.passed || !self.is_past(check))
        };
        let told: Vec<&Check> =
            self.gathered.checks.iter().rev().filter(stands).take(CHECKS).collect();
        // Where all ran in one folder it need not be told.
        let folders: std::collections::BTreeSet<_> =
            told.iter().filter_map(|check| check.folder()).collect();
        let folder = folders.len() > 1;
        let mut lines = listed(state::CHECKS, told.iter().map(|check| check_line(check, folder)));
        if let Some(check) = told.iter().find(|check| check.passed) {
            let count = self.changed_after(check.message).len();
            if count > 0 {
                lines.push(format!("{}{count} file{}\n", state::SINCE, plural(count)));
            }
        }
        lines
    }

    /// Whether the work went on from a failure without that check: it was committed since, or another
    /// check was run long after it. What it would say now is not known.
    fn is_past(&self, check: &Check) -> bool {
        let committed = self.gathered.history.commits.last().map(|commit| commit.message);
        let newest = self.gathered.checks.iter().map(|other| other.message).max().unwrap_or(0);
        committed > Some(check.message) || newest > check.message + PAST
    }

    fn history(&self) -> Vec<String> {
        let History { requests, push, .. } = &self.gathered.history;
        let commits = self.gathered.history.told();
        let mut lines = listed(state::COMMITS, commits.iter().rev().map(commit_line));
        let pushed = push.as_ref().filter(|_| self.later(|later| later.history.push.is_none()));
        if let Some((message, branch)) = pushed {
            let branch = escape::inline(branch, 80);
            let to = if branch.is_empty() { String::new() } else { format!(": {branch}") };
            lines.push(format!("{}{message}{to}\n", state::PUSHED));
        }
        lines.extend(listed(state::REQUESTS, requests.iter().map(request_line)));
        let last = commits.last().filter(|_| self.later(|later| later.history.commits.is_empty()));
        lines.extend(last.and_then(|last| self.changed_line(last)));
        lines
    }

    fn later(&self, is: impl Fn(&Gathered) -> bool) -> bool {
        self.frame.later.is_none_or(is)
    }

    /// `changed since the last commit: 2 files: a.rs, b.rs`.
    fn changed_line(&self, commit: &Commit) -> Option<String> {
        let mut changed = self.changed_after(commit.message);
        let count = changed.len();
        changed.sort_by_key(|(_, used)| std::cmp::Reverse(used.last));
        let name = |(path, used): &(&String, &FileUse)| {
            format!("{} @{}", escape::inline(path, 200), used.changed.unwrap_or(0))
        };
        let names: Vec<String> = changed.iter().take(FILES).map(name).collect();
        let more = if count > FILES { ", …" } else { "" };
        let (head, names) = (state::CHANGED, names.join(", "));
        (count > 0).then(|| format!("{head}{count} file{}: {names}{more}\n", plural(count)))
    }

    /// Files of the work that changed after a message.
    fn changed_after(&self, message: u32) -> Vec<(&String, &FileUse)> {
        let newer = |(_, used): &(&String, &FileUse)| !used.scratch && used.changed > Some(message);
        self.gathered.files.iter().filter(newer).collect()
    }
}

/// The entries behind a label, one a line: the first beside it, the others indented.
fn listed(label: &str, entries: impl Iterator<Item = String>) -> Vec<String> {
    let line = |(at, entry)| match at {
        0 => format!("{label}{entry}\n"),
        _ => format!("  {entry}\n"),
    };
    entries.enumerate().map(line).collect()
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// `` `cargo test` ok @12 (213 passed) ``.
fn check_line(check: &Check, folder: bool) -> String {
    let command = escape::inline(&check.command, 120);
    let folder = check.folder().filter(|_| folder).map(|folder| escape::inline(folder, 80));
    let command =
        folder.map_or_else(|| command.clone(), |folder| format!("cd {folder} && {command}"));
    let telling = escape::inline(&check.telling, 120);
    let verdict = if check.passed { "ok" } else { "failed" };
    let telling = match (telling.is_empty(), check.passed) {
        (true, _) => String::new(),
        (false, true) => format!(" ({telling})"),
        (false, false) => format!(": {telling}"),
    };
    format!("`{command}` {verdict} @{}{telling}", check.message)
}

/// `1a2b3c4 Fix the parser @40`.
fn commit_line(commit: &Commit) -> String {
    let hash = if commit.hash.is_empty() { "(no hash)" } else { &commit.hash };
    format!("{hash} {} @{}", escape::inline(&commit.subject, 120), commit.message)
}

/// `#12 Mend the parser @44`.
fn request_line(request: &Request) -> String {
    let title = escape::inline(&request.title, 120);
    let space = if title.is_empty() { "" } else { " " };
    format!("#{}{space}{title} @{}", request.number, request.message)
}
