//! What a command did to the history of the work: commits with hash and subject, pushes, merge requests. It is
//! read from the command and from the output of git and its hosts.

use super::purpose::CommandPurpose;
use super::step::{CommandDeeds, SimpleStep};
use crate::tools::shell;

/// One change of the history, or a listing that shows a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HistoryDeed {
    /// A commit was made.
    Committed {
        /// The abbreviated hash; empty where no output shows it.
        hash: String,
        /// The first line of its message.
        subject: String,
        /// The branch that the output names; empty where it names none.
        branch: String,
        /// Whether it replaces the commit before it.
        amends: bool,
    },
    /// This many of the newest commits were taken back.
    TookBack(usize),
    /// The commits after the one with this hash were taken back.
    WentBack(String),
    /// The newest commit may have got another hash, which no output shows.
    Unsure,
    /// The commits got other hashes, as by a rebase.
    Moved,
    /// The commits were pushed to this branch; the name is empty where no output shows it.
    Pushed(String),
    /// A merge request was opened.
    Requested {
        /// Its number.
        number: u32,
        /// Its title; empty where the command does not hold it.
        title: String,
    },
    /// A listing showed a commit that was made before.
    Listed {
        /// Its hash.
        hash: String,
        /// Its subject, without the names of branches.
        subject: String,
    },
}

/// The history deeds of a command. `lines` gives the lines of its output. `ended` says how the command is known to have
/// ended; one that ended well made its commits even without output. `None` where it still runs, or where nothing proves
/// its end: then only output counts.
pub(crate) fn deeds(
    text: &str,
    command: &CommandDeeds<'_>,
    lines: impl FnOnce() -> Vec<String>,
    ended: Option<bool>,
) -> Vec<HistoryDeed> {
    let mut out = Vec::new();
    let ok = ended == Some(true);
    let scripts = command.steps.iter().any(|step| step.script.is_none() && runs_on(step.purpose));
    if !scripts && !command.steps.iter().any(is_host) {
        return out;
    }
    let lines = &lines();
    let commits = |step: &SimpleStep<'_>| step.run.key() == "git commit";
    // A commit in the output is that of the command's own step, where it has one.
    if scripts && !command.steps.iter().any(commits) {
        out.extend(by_script(lines));
    }
    let messages = messages(text);
    // git prints a line for each commit, in the order of the steps.
    let mut printed = lines.iter().filter_map(|line| committed(line));
    let mut messages = messages.into_iter();
    for step in &command.steps {
        let has = |word: &str| step.text.split_whitespace().any(|own| own == word);
        match step.run.key() {
            "git commit" if !has("--dry-run") => {
                let message = messages.next().unwrap_or_default();
                let amends = has("--amend");
                let silent = |hash| HistoryDeed::Committed {
                    hash,
                    subject: message.clone(),
                    branch: String::new(),
                    amends,
                };
                if let Some(commit) = printed.next() {
                    out.push(commit.deed(amends));
                } else if let Some(hash) = shown_as(&message, lines) {
                    // A listing shows the commit, so it was made, whatever the rest of the call did.
                    out.push(silent(hash));
                } else if ok && (!message.is_empty() || amends) && !nothing(lines) {
                    out.push(silent(String::new()));
                } else if amends && ended == Some(false) && !nothing(lines) {
                    out.push(HistoryDeed::Unsure);
                }
            }
            "git merge" | "git cherry-pick" | "git revert" => {
                out.extend(printed.next().map(|commit| commit.deed(false)));
            }
            "git reset" => out.extend(went_back(step.text, lines, ok)),
            "git push" if !has("--dry-run") => {
                out.extend(pushed(lines, ok).map(HistoryDeed::Pushed))
            }
            "gh pr" | "glab mr" if has("create") => out.extend(requested(step, text, lines)),
            "git log" | "git rev-parse" | "git show" | "git reflog" => {
                out.extend(lines.iter().take(LISTED).filter_map(|line| listed(line)));
            }
            _ => {}
        }
        if step.purpose == CommandPurpose::Versions && rebased(step, lines, ok) {
            out.push(HistoryDeed::Moved);
        }
    }
    out
}

/// Whether a step gave the commits of a branch other hashes. Tools for stacks of branches do so, too, so the output
/// counts beside the name of the step.
fn rebased(step: &SimpleStep<'_>, lines: &[String], ok: bool) -> bool {
    let has = |word: &str| step.text.split_whitespace().any(|own| own == word);
    let says =
        |words: &[&str]| lines.iter().any(|line| words.iter().any(|word| line.contains(word)));
    let idle = has("--abort") || has("--quit") || says(&["is up to date.", "Already up to date."]);
    let named = step.run.key() == "git rebase" && ok;
    !idle && !is_quiet(step) && (named || says(&["Successfully rebased", "Rebased "]))
}

/// Whether a step of git never moves commits.
fn is_quiet(step: &SimpleStep<'_>) -> bool {
    matches!(
        step.run.key(),
        "git add" | "git commit" | "git push" | "git checkout" | "git switch" | "git reset"
    )
}

/// What `git reset` took back: by its target, or by the commit that git says is the newest now.
fn went_back(text: &str, lines: &[String], ok: bool) -> Option<HistoryDeed> {
    let now = lines.iter().find_map(|line| line.strip_prefix("HEAD is now at "));
    if let Some(hash) = now.and_then(|line| line.split_whitespace().next()) {
        return Some(HistoryDeed::WentBack(hash.to_owned()));
    }
    let hash = text.split_whitespace().find(|word| is_hash(word));
    let to = hash.filter(|_| ok).map(|hash| HistoryDeed::WentBack(hash.to_owned()));
    to.or_else(|| back(text).map(HistoryDeed::TookBack))
}

/// Whether a step runs git, or a program of a host of repositories.
fn is_host(step: &SimpleStep<'_>) -> bool {
    matches!(step.purpose, CommandPurpose::Versions | CommandPurpose::LookUp)
        && ["git", "gh ", "glab"].iter().any(|name| step.run.key().starts_with(name))
}

/// Whether a step may make commits by itself, as scripts of a project do.
fn runs_on(purpose: CommandPurpose) -> bool {
    matches!(purpose, CommandPurpose::Check(_) | CommandPurpose::Script | CommandPurpose::Other)
}

/// The commit that a script made: git's own line, or the only line with a hash above `2 files changed, …`.
fn by_script(lines: &[String]) -> Option<HistoryDeed> {
    if let Some(commit) = lines.iter().find_map(|line| committed(line)) {
        return Some(commit.deed(false));
    }
    let counts = |line: &String| {
        line.contains(" changed, ") && line.starts_with(|c: char| c.is_ascii_digit())
    };
    let changes = |line: &String| line.contains(" | ") && line.ends_with(['+', '-']);
    if !lines.iter().any(|line| counts(line) || changes(line)) {
        return None;
    }
    let mut commits = lines.iter().filter_map(|line| listed(line));
    match (commits.next(), commits.next()) {
        (Some(HistoryDeed::Listed { hash, subject }), None) if !subject.is_empty() => {
            // The format `%h %an <%ae> %s`, with author and address.
            let named = subject.split_once("> ").filter(|(author, _)| author.contains('@'));
            let subject = named.map_or(&*subject, |(_, subject)| subject).to_owned();
            Some(HistoryDeed::Committed { hash, subject, branch: String::new(), amends: false })
        }
        _ => None,
    }
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A commit in git's own line.
struct PrintedCommit<'a> {
    branch: &'a str,
    hash: &'a str,
    subject: &'a str,
}

impl PrintedCommit<'_> {
    fn deed(&self, amends: bool) -> HistoryDeed {
        HistoryDeed::Committed {
            hash: self.hash.to_owned(),
            subject: self.subject.to_owned(),
            branch: self.branch.to_owned(),
            amends,
        }
    }
}

/// The commit in `[main 1a2b3c4] subject` or `[main (root-commit) 1a2b3c4] subject`.
fn committed(line: &str) -> Option<PrintedCommit<'_>> {
    let (inside, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = inside.rsplit_once(' ')?;
    let branch = branch.split(" (").next().unwrap_or(branch);
    is_hash(hash).then_some(PrintedCommit { branch, hash, subject: subject.trim() })
}

/// The commit in `1a2b3c4 (HEAD -> main) subject`, or in a line that is a hash alone.
fn listed(line: &str) -> Option<HistoryDeed> {
    let line = line.trim_start_matches(['*', '|', ' ']);
    let (hash, rest) = line.split_once(' ').unwrap_or((line, ""));
    if !is_hash(hash) {
        return None;
    }
    let rest = rest.trim_start();
    let named = rest.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    let subject = named.map_or(rest, |(_, subject)| subject).trim().to_owned();
    Some(HistoryDeed::Listed { hash: hash.to_owned(), subject })
}

/// The hash of the commit with this subject, where a listing in the output shows it.
fn shown_as(subject: &str, lines: &[String]) -> Option<String> {
    let hash = |line: &String| match listed(line)? {
        HistoryDeed::Listed { hash, subject: shown } if shown == subject => Some(hash),
        _ => None,
    };
    lines.iter().take(LISTED).find_map(hash).filter(|_| !subject.is_empty())
}

/// At most this many lines of output are searched for a listing.
const LISTED: usize = 200;

/// Whether git says that there was nothing to commit.
fn nothing(lines: &[String]) -> bool {
    let says = |line: &String| {
        line.contains("nothing to commit")
            || line.contains("nothing added to commit")
            || line.contains("no changes added")
    };
    lines.iter().any(says)
}

/// The subjects of the commits that a command makes, in order.
fn messages(text: &str) -> Vec<String> {
    let parts = shell::parts(text);
    let commits = parts.iter().filter(|part| {
        part.words.first().is_some_and(|word| word == "git") && part.holds("commit")
    });
    commits.map(|part| subject(&part.words, part.body)).collect()
}

/// The first line of a commit's message, which is behind `-m` or in a heredoc. Empty where there is none.
fn subject(words: &[String], body: Option<&str>) -> String {
    let first = |text: &str| {
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
        let message = match word.strip_prefix("--message=") {
            Some(message) => Some(message),
            None if short || word == "--message" => words.next().map(String::as_str),
            None => None,
        };
        if let Some(message) = message {
            // "$(cat <<'EOF' … EOF)"
            let written = message.trim_start().starts_with("$(cat <<");
            let inner = message.split_once('\n').filter(|_| written).map(|(_, inner)| inner);
            return first(inner.unwrap_or(message));
        }
    }
    body.map(first).unwrap_or_default()
}

/// How many commits `git reset HEAD~2` takes back; `None` where the target is not relative to `HEAD`.
fn back(text: &str) -> Option<usize> {
    text.split_whitespace().find_map(|word| match word.strip_prefix("HEAD")? {
        "^" | "~" => Some(1),
        rest => rest.strip_prefix('~')?.parse().ok(),
    })
}

/// The branch of a successful push; empty where the output does not name it. `None` where nothing was pushed.
fn pushed(lines: &[String], ok: bool) -> Option<String> {
    let bad = |line: &&String| {
        line.contains("[rejected]")
            || line.contains("[remote rejected]")
            || line.starts_with("fatal: ")
            || line.starts_with("error: failed to push")
    };
    if lines.iter().any(|line| bad(&line)) {
        return None;
    }
    let target = lines.iter().find_map(|line| {
        let (from, to) = line.rsplit_once(" -> ")?;
        // A pushed tag says nothing about a branch.
        let is_pushed = from.contains("..") || from.contains("[new branch]") || from.contains("+ ");
        is_pushed.then(|| to.split_whitespace().next().unwrap_or_default().to_owned())
    });
    let tag = lines.iter().any(|line| line.contains("[new tag]"));
    let same = lines.iter().any(|line| line.contains("Everything up-to-date"));
    target.or_else(|| (same || ok && !tag).then(String::new))
}

/// The merge request that was opened, with its number from the address in the output.
fn requested(step: &SimpleStep<'_>, text: &str, lines: &[String]) -> Option<HistoryDeed> {
    let number = |line: &String| {
        let at = ["/pull/", "/merge_requests/"]
            .iter()
            .find_map(|mark| line.find(mark).map(|at| at + mark.len()))?;
        let digits: String = line[at..].chars().take_while(char::is_ascii_digit).collect();
        (line.contains("://")).then(|| digits.parse::<u32>().ok()).flatten()
    };
    let number = lines.iter().rev().find_map(number)?;
    let parts = shell::parts(text);
    let own = parts.iter().find(|part| part.text.trim() == step.text);
    let title = own.and_then(|part| {
        let at = part.words.iter().position(|word| word == "--title" || word == "-t")?;
        part.words.get(at + 1).cloned()
    });
    Some(HistoryDeed::Requested { number, title: title.unwrap_or_default() })
}
