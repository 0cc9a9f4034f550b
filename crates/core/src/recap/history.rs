//! Commits, pushes and requests to merge, as far as calls showed them.

use crate::tools::command::versions::HistoryDeed;

/// At most this many commits are kept.
const MOST: usize = 10;
/// Longest subject, in characters.
const SUBJECT: usize = 100;

/// A commit that a call made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitRecord {
    /// The abbreviated hash; empty where no output showed it.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// Number of the message that shows it.
    pub message: u32,
    /// Whether it got another hash, which no output shows.
    pub moved: bool,
    /// The branch that it was made on; empty where no output named it.
    pub(super) branch: String,
}

/// A request to merge that a call opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// Its number.
    pub number: u32,
    /// Its title; empty where nothing showed it.
    pub title: String,
    /// Number of the message that shows it.
    pub message: u32,
}

/// The history of the work, as far as calls changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkHistory {
    /// The newest commits, the oldest of them first.
    pub commits: Vec<CommitRecord>,
    /// How many older commits were dropped from the list.
    pub older: usize,
    /// How many of the listed commits are pushed, counted from the first one.
    pub pushed: usize,
    /// The last push: the number of its message, and the branch (empty where no output named it).
    pub push: Option<(u32, String)>,
    /// Requests to merge, in the order in which they were opened.
    pub requests: Vec<MergeRequest>,
}

impl WorkHistory {
    /// Adds what one call did to the repository.
    pub(super) fn add(&mut self, message: u32, deed: HistoryDeed) {
        match deed {
            HistoryDeed::Committed { hash, subject, branch, amends } => {
                // A command such as `git log` lists commits that are known already.
                if !hash.is_empty() && self.commits.iter().any(|known| known.hash == hash) {
                    return;
                }
                let before = if amends { self.replaced(&branch) } else { None };
                let subject = match before {
                    Some(before) if subject.is_empty() => before.subject,
                    _ => crate::salient::shorten(&subject, SUBJECT),
                };
                self.commits.push(CommitRecord { hash, subject, message, moved: false, branch });
                if self.commits.len() > MOST {
                    self.commits.remove(0);
                    self.older += 1;
                    // Pushed commits are at the front of the list, where one has just left.
                    self.pushed = self.pushed.saturating_sub(1);
                }
            }
            HistoryDeed::TookBack(count) => {
                self.take_back(count);
            }
            HistoryDeed::WentBack(hash) => {
                let is = |commit: &CommitRecord| is_same_hash(&commit.hash, &hash);
                let from = self.commits.iter().rposition(is).map_or(self.pushed, |at| at + 1);
                self.take_back(self.commits.len() - from);
            }
            HistoryDeed::Moved => {
                // Pushed commits keep their hashes. The new hashes of the others are not shown.
                self.commits.iter_mut().skip(self.pushed).for_each(CommitRecord::lose_hash);
            }
            HistoryDeed::Unsure => {
                let newest = self.commits.iter_mut().skip(self.pushed).next_back();
                newest.into_iter().for_each(CommitRecord::lose_hash);
            }
            HistoryDeed::Pushed(branch) => {
                self.pushed = self.commits.len();
                self.push = Some((message, branch));
            }
            HistoryDeed::Requested { number, title } => {
                self.requests.retain(|known| known.number != number);
                let title = crate::salient::shorten(&title, SUBJECT);
                self.requests.push(MergeRequest { number, title, message });
            }
            HistoryDeed::Listed { hash, subject } => self.name(&hash, &subject),
        }
    }

    /// Fills in the hash of a commit that was made without output. A listing with a subject names the commit with that
    /// subject; a hash alone is the newest commit's.
    fn name(&mut self, hash: &str, subject: &str) {
        let hash = &hash[..hash.len().min(8)];
        if self.commits.iter().any(|known| !known.hash.is_empty() && hash.starts_with(&known.hash))
        {
            return;
        }
        let own = |commit: &&mut CommitRecord| match subject.is_empty() {
            true => true,
            false => subject.starts_with(commit.subject.trim_end_matches('…')),
        };
        let newest = self.commits.iter_mut().rev().take(if subject.is_empty() { 1 } else { MOST });
        let mut unnamed = newest.filter(own).filter(|commit| commit.hash.is_empty());
        if let Some(commit) = unnamed.next() {
            hash.clone_into(&mut commit.hash);
            commit.moved = false;
        }
    }

    /// Removes the commit that an amend on this branch replaces, and returns it. `None` where the newest commit of the
    /// branch was not made by these calls.
    fn replaced(&mut self, branch: &str) -> Option<CommitRecord> {
        let same = |commit: &CommitRecord| {
            branch.is_empty() || commit.branch.is_empty() || commit.branch == branch
        };
        let at = self.commits.iter().rposition(same)?;
        self.pushed -= usize::from(at < self.pushed);
        Some(self.commits.remove(at))
    }

    /// Removes the newest `count` commits, and returns them.
    fn take_back(&mut self, count: usize) -> Vec<CommitRecord> {
        let from = self.commits.len().saturating_sub(count);
        self.pushed = self.pushed.min(from);
        self.commits.split_off(from)
    }

    /// The commits for a recap: those since the last push, or the newest where all are pushed.
    #[must_use]
    pub fn recent(&self) -> &[CommitRecord] {
        let from = if self.pushed < self.commits.len() { self.pushed } else { 0 };
        &self.commits[from..]
    }
}

impl CommitRecord {
    /// Forgets the hash, because the commit has another one by now.
    fn lose_hash(&mut self) {
        self.hash.clear();
        self.moved = true;
    }
}

/// Whether two hashes of different lengths are of the same commit.
fn is_same_hash(one: &str, other: &str) -> bool {
    !one.is_empty() && (one.starts_with(other) || other.starts_with(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(hash: &str, subject: &str, amends: bool) -> HistoryDeed {
        of("", hash, subject, amends)
    }

    fn of(branch: &str, hash: &str, subject: &str, amends: bool) -> HistoryDeed {
        let [hash, subject, branch] = [hash, subject, branch].map(str::to_owned);
        HistoryDeed::Committed { hash, subject, branch, amends }
    }

    fn commits(history: &WorkHistory) -> Vec<(&str, &str)> {
        history.recent().iter().map(|commit| (&*commit.hash, &*commit.subject)).collect()
    }

    #[test]
    fn an_amend_replaces_the_newest_commit_of_its_own_branch() {
        let mut history = WorkHistory::default();
        history.add(1, of("part-2", "1111aaa", "Gate", false));
        history.add(2, HistoryDeed::Unsure);
        history.add(3, HistoryDeed::Moved);
        history.add(4, of("part-3", "57a1a8f", "Harden", true));
        history.add(5, of("part-3", "76a08b3", "Harden", true));
        assert_eq!(commits(&history), [("", "Gate"), ("76a08b3", "Harden")]);
        assert!(history.commits[0].moved && !history.commits[1].moved);
    }

    #[test]
    fn dropped_commits_go() {
        let mut history = WorkHistory::default();
        for (at, hash) in [(1, "aaaaaaa"), (2, "bbbbbbb"), (3, "ccccccc")] {
            history.add(at, commit(hash, "One", false));
        }
        history.add(4, HistoryDeed::WentBack("aaaaaaa1".to_owned()));
        assert_eq!(commits(&history), [("aaaaaaa", "One")]);
        history.add(5, HistoryDeed::WentBack("eeeeeee".to_owned()));
        assert!(history.commits.is_empty());
    }

    #[test]
    fn a_history_follows_what_calls_did() {
        let mut history = WorkHistory::default();
        history.add(1, commit("aaaaaaa", "One", false));
        history.add(2, HistoryDeed::Pushed("main".to_owned()));
        history.add(3, commit("", "Two", false));
        history
            .add(4, HistoryDeed::Listed { hash: "bbbbbbb".to_owned(), subject: "Two".to_owned() });
        history.add(5, commit("ccccccc", "", true));
        assert_eq!(commits(&history), [("ccccccc", "Two")]);
        history.add(6, HistoryDeed::TookBack(1));
        assert_eq!(history.commits.len(), 1);
        history.add(7, commit("", "Three", false));
        history.add(8, HistoryDeed::Listed { hash: "d".repeat(40), subject: String::new() });
        assert_eq!(history.commits[1].hash, "dddddddd");
    }
}
