//! The section of a recap about the current state of the work.

use rustc_hash::FxHashSet;

use super::RecapWriter;
use crate::recap::checks::CheckResult;
use crate::recap::escape;
use crate::recap::gather::{FileUse, GatheredFacts, Quote};
use crate::recap::history::{CommitRecord, MergeRequest, WorkHistory};
use crate::recap::state::listed;
use crate::recap::tasks::is_finished;
use crate::recap::{section, state};

/// At most this many checks are listed.
const CHECKS: usize = 8;
/// What holds takes at most one part in this many of the room that is left.
const STANDING: u64 = 5;
/// At most this many changed files are named.
const FILES: usize = 12;

impl RecapWriter<'_> {
    /// Writes what holds on, the to-do list, the newest verdict of each check, and the commits, pushes and changes since.
    /// Returns the messages of the checks that it lists.
    pub(super) fn state(&mut self, allowed: u64) -> FxHashSet<u32> {
        let later = self.frame.later.map(|later| &later.standing);
        let mut lines = self.gathered.standing.lines(later, self.frame.numbers);
        // What holds has room of its own, so that it takes none from the checks.
        let standing: u64 = lines.iter().map(|line| self.cost(line)).sum();
        let allowed = allowed + standing.min(self.room / STANDING);
        lines.extend(self.todo(allowed.saturating_sub(standing)));
        let checks = self.told_checks();
        let from = lines.len();
        lines.extend(self.checks(&checks));
        lines.extend(self.history());
        let messages: Vec<(usize, u32)> =
            checks.iter().enumerate().map(|(at, check)| (from + at, check.message)).collect();
        let told_lines =
            self.list(section::STATE, lines.into_iter().enumerate().collect(), allowed);
        messages
            .into_iter()
            .filter(|(at, _)| told_lines.contains(at))
            .map(|(_, message)| message)
            .collect()
    }

    /// The lines of the to-do list, unless all of it is done. Where not all items have room, completed items are dropped first, then the last
    /// ones, and the heading counts the dropped items. Empty where a message behind the recap has a newer list.
    fn todo(&self, allowed: u64) -> Vec<String> {
        let later = self.frame.later.is_some_and(|later| later.todo.is_some());
        let open = |todo: &&Quote| !later && !is_finished(&todo.text);
        let Some(todo) = self.gathered.todo.as_ref().filter(open) else { return Vec::new() };
        let items = todo.text.lines().map(|line| format!("  {}\n", escape::inline(line, 200)));
        let mut priced: Vec<(u64, String)> = items.map(|item| (self.cost(&item), item)).collect();
        let title = self.frame.numbers.labelled(state::TASKS, todo.message);
        let head = |note: &str| format!("{title}{note}:\n");
        let room = allowed.min(self.room).saturating_sub(self.cost(HEADER) + self.cost(&head("")));
        let mut cost: u64 = priced.iter().map(|(cost, _)| cost).sum();
        if cost <= room {
            return std::iter::once(head(""))
                .chain(priced.into_iter().map(|(_, item)| item))
                .collect();
        }
        // The heading gets longer by the counts.
        let room = room.saturating_sub(self.cost(TODO_LEFT_OUT));
        let (mut completed, mut open) = (0, 0);
        priced.retain(|(own, item)| {
            // From the first item on, and only as many as the room needs.
            let is_dropped = cost > room && is_completed(item);
            cost -= if is_dropped { *own } else { 0 };
            completed += usize::from(is_dropped);
            !is_dropped
        });
        while let Some((own, _)) = priced.last().filter(|_| cost > room) {
            cost -= own;
            open += 1;
            priced.pop();
        }
        let parts = [(completed, "completed"), (open, "open")];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> =
            parts.map(|(count, label)| format!("{count} {label} left out")).collect();
        let head = head(&format!(" ({})", parts.join(", ")));
        std::iter::once(head).chain(priced.into_iter().map(|(_, item)| item)).collect()
    }

    /// The checks that the state lists, the newest first. Checks that a newer message outside the recap supersedes are
    /// not listed.
    fn told_checks(&self) -> Vec<CheckResult> {
        let later = || self.frame.later.into_iter().flat_map(|later| &later.checks);
        let stands = |check: &&CheckResult| !later().any(|newer| newer.supersedes(check));
        self.gathered.checks.iter().rev().filter(stands).take(CHECKS).cloned().collect()
    }

    /// The lines about these checks, and about files that changed after the newest one that passed.
    fn checks(&self, results: &[CheckResult]) -> Vec<String> {
        // The folder is written only where the checks ran in several folders, or in one inside the project.
        let folders: std::collections::BTreeSet<_> =
            results.iter().filter_map(|check| check.folder()).collect();
        let inside = |folder: &str| !folder.starts_with(['/', '~', '$']);
        let folder = folders.len() > 1 || folders.iter().any(|folder| inside(folder));
        let mut lines =
            listed(state::CHECKS, results.iter().map(|check| self.check_line(check, folder)));
        // The newest check is the first, so this is the last one that passed.
        if let Some(check) = results.iter().find(|check| check.passed) {
            let count = self.work_changed_after(check.message);
            if count > 0 {
                lines.push(format!("{}{count} file{}\n", state::SINCE, plural(count)));
            }
        }
        lines
    }

    /// The lines about commits, the last push, merge requests, and files that changed after the last commit.
    fn history(&self) -> Vec<String> {
        let WorkHistory { requests, push, .. } = &self.gathered.history;
        let commits = self.gathered.history.recent();
        let older = self.gathered.history.older;
        let older = (older > 0).then(|| format!("{}{older}", state::OLDER));
        let mut lines = listed(
            state::COMMITS,
            commits.iter().rev().map(|commit| self.commit_line(commit)).chain(older),
        );
        let pushed = push.as_ref().filter(|_| self.later(|later| later.history.push.is_none()));
        if let Some((message, branch)) = pushed {
            let branch = escape::inline(branch, 80);
            let to = if branch.is_empty() { String::new() } else { format!(": {branch}") };
            let pushed = self.frame.numbers.labelled(state::PUSHED, *message);
            lines.push(format!("{pushed}{to}\n"));
        }
        lines.extend(listed(
            state::REQUESTS,
            requests.iter().map(|request| self.request_line(request)),
        ));
        let last = commits.last().filter(|_| self.later(|later| later.history.commits.is_empty()));
        lines.extend(last.and_then(|last| self.changed_line(last)));
        lines
    }

    /// Whether a test holds for the facts behind the recap. True where there are none.
    fn later(&self, is: impl Fn(&GatheredFacts) -> bool) -> bool {
        self.frame.later.is_none_or(is)
    }

    /// A line such as `changed since the last commit: 2 files: a.rs, b.rs`.
    fn changed_line(&self, commit: &CommitRecord) -> Option<String> {
        let mut changed = self.changed_after(commit.message);
        let count = changed.len();
        changed.sort_by_key(|(_, used)| std::cmp::Reverse(used.last));
        let name = |(path, used): &(&String, &FileUse)| {
            let path = escape::inline(&self.printer.listed(path), 200);
            path + &self.frame.numbers.after(used.changed.unwrap_or(0))
        };
        let names: Vec<String> = changed.iter().take(FILES).map(name).collect();
        let more = if count > FILES { ", …" } else { "" };
        let (head, names) = (state::CHANGED, names.join(", "));
        (count > 0).then(|| format!("{head}{count} file{}: {names}{more}\n", plural(count)))
    }

    /// How many files that a check may depend on changed after a message. These are files that existed before the
    /// session, and new files in a folder inside the project. Other new files are the agent's own experiments, such as
    /// a script for one look. In a project that has no older files, all new ones count.
    fn work_changed_after(&self, message: u32) -> usize {
        let changed = self.changed_after(message);
        let files = || self.files.iter().filter(|(_, used)| !used.scratch);
        if !files().any(|(_, used)| used.modified && !used.is_created) {
            return changed.len();
        }
        let folder = |path: &str| {
            path.trim_start_matches("./").rsplit_once('/').map_or(0, |(folder, _)| folder.len())
        };
        let absolute = files().filter(|(path, _)| path.starts_with('/'));
        // The shortest folder of an absolute path is taken for that of the project.
        let top = absolute.map(|(path, _)| folder(path)).min().unwrap_or(0);
        let inside = |path: &str| folder(path) > if path.starts_with('/') { top } else { 0 };
        changed.iter().filter(|(path, used)| !used.is_created || inside(path)).count()
    }

    /// The files of the work that changed after a message; scratch files are not counted.
    fn changed_after(&self, message: u32) -> Vec<(&String, &FileUse)> {
        let newer = |(_, used): &(&String, &FileUse)| !used.scratch && used.changed > Some(message);
        self.files.iter().filter(newer).collect()
    }

    /// Formats a check, such as `` `cargo test` ok @12 (213 passed) ``.
    fn check_line(&self, check: &CheckResult, folder: bool) -> String {
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
        format!("`{command}` {verdict}{}{telling}", self.frame.numbers.after(check.message))
    }

    /// Formats a commit, such as `1a2b3c4 Fix the parser @40`.
    fn commit_line(&self, commit: &CommitRecord) -> String {
        let hash = match commit.hash.is_empty() {
            true if commit.moved => state::MOVED.trim_end(),
            true => "(no hash)",
            false => &commit.hash,
        };
        let at = self.frame.numbers.after(commit.message);
        format!("{hash} {}{at}", escape::inline(&commit.subject, 120))
    }

    /// Formats a request to merge, such as `#12 Mend the parser @44`.
    fn request_line(&self, request: &MergeRequest) -> String {
        let title = escape::inline(&request.title, 120);
        let space = if title.is_empty() { "" } else { " " };
        format!("#{}{space}{title}{}", request.number, self.frame.numbers.after(request.message))
    }
}

/// A sample of the words that count left-out items in the heading of a to-do list, as long as they usually get.
const TODO_LEFT_OUT: &str = " (99 completed left out, 99 open left out)";
/// The heading of the section.
const HEADER: &str = "### State\n";

fn is_completed(item: &str) -> bool {
    item.trim_start().starts_with("[x] ")
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
