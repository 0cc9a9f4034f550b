//! Composing a recap within a token cap.
//!
//! Sections in the order in which a reader needs them: what the task is, how things are, what was
//! done and found, what was tried and failed, which files, and an index of names. State, files and
//! index have a share that they do not pass; what was said and done takes the rest.

use rustc_hash::FxHashSet;

use crate::counter::Content;
use crate::fold::IdList;
use crate::ids::identifiers;
use crate::recap::checks::Check;
use crate::recap::escape;
use crate::recap::frame::Frame;
use crate::recap::gather::{FileUse, Gathered};
use crate::recap::group::{Grouped, common_root, group};
use crate::recap::rank::{Ranked, rank, with_parts};
use crate::recap::rules::is_strict;
use crate::recap::select::{line, lines, weigh};
use crate::recap::statement::{Kind, Statement};
use crate::recap::{END, NOTE_START, RULES, SINCE, section};
use crate::redact::REPLACEMENT;
use crate::seal;

/// A composed recap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    /// The text.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The identifiers of the span that the context names: those that its verbatim parts and the
    /// sections name, then those of the index, best first. A compound such as `db-prod-1:5432` is
    /// followed by its parts.
    pub kept: IdList,
    /// Those that found no place.
    pub lost: IdList,
    /// Files named.
    pub files: usize,
    /// Secrets that were replaced.
    pub redacted: u32,
    /// The narration found room.
    pub narrated: bool,
}

/// The most of the cap that a section takes, in parts per 100.
mod share {
    pub const TASK: u64 = 16;
    pub const NOTES: u64 = 8;
    pub const STATE: u64 = 14;
    pub const FILES: u64 = 14;
    pub const FILE_BLOCKS: u64 = 25;
    pub const INDEX: u64 = 4;
}

/// Below this a section is not worth its header, in tokens.
const MIN_SECTION: u64 = 12;
/// The files have this much of a short recap, in tokens: which files changed outlives how.
const LEAST_FILES: u64 = 96;
/// Most checks that are told.
const CHECKS: usize = 6;
/// Longest rule, in characters.
const RULE_CHARS: usize = 320;

/// Composes the recap.
#[must_use]
pub fn compose(gathered: &Gathered, frame: &Frame<'_>) -> Composed {
    let mut writer = Writer { out: String::new(), frame, gathered, left: frame.cap };
    let root = common_root(gathered);
    writer.push(&head_lines(gathered, frame, root.as_deref()));
    let end_of = |text: &str| match frame.before {
        Some(before) => seal::end_line(before, text),
        None => END.to_owned(),
    };
    let end_cost = writer.cost(&end_of("")) + 4;
    writer.left = writer.left.saturating_sub(end_cost);
    let body = writer.left;
    let narrated = writer.narration(body);
    // Some policies compute no recap, and ask only which names leave.
    let mut statements = match frame.cap {
        0 => Vec::new(),
        _ => group(gathered, frame.later, root.as_deref()),
    };
    let told = writer.task(&statements, body * share::TASK / 100);
    statements
        .retain(|one| one.statement.kind != Kind::Asked || !told.contains(&one.statement.message));
    writer.notes(body * share::NOTES / 100);
    writer.state(body * share::STATE / 100);
    if narrated {
        writer.push(frame.narration);
    }
    let files_share = if frame.file_blocks { share::FILE_BLOCKS } else { share::FILES };
    let for_files = (body * files_share / 100).max(LEAST_FILES.min(body / 3));
    let (mut files, mut listed) = writer.files(for_files);
    let for_files = writer.cost(&files);
    let for_index = (body * share::INDEX / 100).min(writer.left.saturating_sub(for_files));
    writer.statements(&statements, writer.left.saturating_sub(for_files + for_index));
    if frame.file_blocks {
        // Cumulative lists take what the statements leave (What Survives the Compression).
        let left = writer.left.saturating_sub(for_index);
        (files, listed) = writer.files(left.max(for_files));
    }
    writer.push(&files);
    let sections = writer.out.clone();
    let said: FxHashSet<&str> = identifiers(&sections).collect();
    let mut ranked = rank(gathered, frame, &said, usize::try_from(frame.cap).unwrap_or(usize::MAX));
    // A name that only a later message gave away is neither kept nor lost.
    ranked.best.retain(|name| !gathered.secrets.touch(name.id));
    ranked.said.retain(|name| !gathered.secrets.touch(name));
    let named = writer.index(&ranked.best, body * share::INDEX / 100);
    let mut text = gathered.secrets.without(&writer.out).into_owned();
    text.push_str(&end_of(&text));
    let redacted = u32::try_from(text.matches(REPLACEMENT).count()).unwrap_or(u32::MAX);
    let named: FxHashSet<usize> = named.into_iter().collect();
    let best = ranked.best.iter().enumerate();
    let (kept_best, lost): (Vec<_>, Vec<_>) = best.partition(|(at, _)| named.contains(at));
    let kept = ranked.said.iter().copied().chain(kept_best.into_iter().map(|(_, r)| r.id));
    Composed {
        tokens: u64::from(frame.counter.count(&text, Content::Prose)),
        kept: IdList::of(kept.flat_map(with_parts), 0),
        lost: IdList::of(lost.into_iter().map(|(_, ranked)| ranked.id), ranked.rest),
        files: listed,
        text,
        redacted,
        narrated,
    }
}

fn head_lines(gathered: &Gathered, frame: &Frame<'_>, root: Option<&str>) -> String {
    let count = gathered.messages;
    let (s, verb) = if count == 1 { ("", "is") } else { ("s", "are") };
    let which =
        gathered.numbers.map_or(String::new(), |(first, last)| format!(", @{first} to @{last},"));
    let root = root.map_or(String::new(), |root| {
        format!(" Paths of statements are below {}.", escape::inline(root, 300))
    });
    format!(
        "{}\n{NOTE_START} {count} earlier message{s}{which} {verb} folded into this recap; newer ones \
         follow. Its words are of then; unmarked lines are the assistant's. @n is the number of a \
         message, for recall.{root} Not covered here: file contents, full outputs, reasoning. Read again \
         what you need.]\n",
        frame.header
    )
}

struct Writer<'a> {
    out: String,
    frame: &'a Frame<'a>,
    gathered: &'a Gathered,
    left: u64,
}

impl Writer<'_> {
    fn cost(&self, text: &str) -> u64 {
        u64::from(self.frame.counter.count(text, Content::Prose))
    }

    fn push(&mut self, text: &str) {
        self.left = self.left.saturating_sub(self.cost(text));
        self.out.push_str(text);
    }

    /// Whether the narration finds room: one that would take more than most of the recap says too
    /// much for this cap. Its room is set aside.
    fn narration(&mut self, body: u64) -> bool {
        let text = self.frame.narration;
        !text.is_empty() && self.cost(text) * 4 <= body * 3
    }

    /// Writes the lines that fit, given best first with their place; in the order of their places.
    fn list(&mut self, name: &str, best_first: Vec<(usize, String)>, allowed: u64) {
        let header = format!("### {name}\n");
        let mut left = allowed.min(self.left).saturating_sub(self.cost(&header));
        let mut chosen: Vec<(usize, String)> = Vec::new();
        for (place, line) in best_first {
            let cost = self.cost(&line);
            if cost <= left {
                left -= cost;
                chosen.push((place, line));
            }
        }
        if chosen.is_empty() {
            return;
        }
        chosen.sort_by_key(|(place, _)| *place);
        self.push(&chosen.into_iter().fold(header, |text, (_, line)| text + &line));
    }

    /// The first request and the newest, where they are nowhere else, and the rules.
    fn task(&mut self, statements: &[Grouped], allowed: u64) -> Vec<u32> {
        let mut text = format!("### {}\n", section::TASK);
        let mut left = allowed.saturating_sub(self.cost(&text));
        let mut told = Vec::new();
        let asked = |one: &&Grouped| one.statement.kind == Kind::Asked;
        let first = statements.iter().find(asked).filter(|_| !self.frame.task_in_head);
        let newest = statements.iter().rfind(asked).filter(|_| !self.frame.task_elsewhere);
        let mut requests: Vec<&Statement> =
            first.into_iter().chain(newest).map(|one| &one.statement).collect();
        requests.dedup_by_key(|request| request.message);
        let share = left / (requests.len().max(1) as u64 + 1);
        for request in requests {
            // Three characters a token are less than it has room for in most texts.
            let line = line(request, usize::try_from(share * 3).unwrap_or(usize::MAX));
            let line = line.map(|line| line + "\n").unwrap_or_default();
            let cost = self.cost(&line);
            if cost > 0 && cost <= left {
                left -= cost;
                text.push_str(&line);
                told.push(request.message);
            }
        }
        let rules = self.rules(left);
        text.push_str(&rules);
        if text.lines().nth(1).is_some() {
            self.push(&text);
        }
        // A message that is a rule and nothing else has been told with it.
        let listed: FxHashSet<&str> = rules.lines().filter_map(|l| l.strip_prefix("- ")).collect();
        let is_rule = |one: &&Grouped| match &*one.statement.parts {
            [part] => listed.contains(&*escape::inline(&part.text, RULE_CHARS)),
            _ => false,
        };
        told.extend(
            statements.iter().filter(asked).filter(is_rule).map(|one| one.statement.message),
        );
        told
    }

    /// The rules that fit, orders before sentences that only may be some, in order.
    fn rules(&self, allowed: u64) -> String {
        let header = format!("{RULES}\n");
        let mut left = allowed.saturating_sub(self.cost(&header));
        let rules = self.gathered.rules.iter().rev().filter(|rule| is_strict(&rule.text));
        let mut lines = Vec::new();
        for rule in rules {
            let line = format!("- {}\n", escape::inline(&rule.text, RULE_CHARS));
            let cost = self.cost(&line);
            if cost <= left {
                left -= cost;
                lines.push(line);
            }
        }
        if lines.is_empty() {
            String::new()
        } else {
            header + &lines.into_iter().rev().collect::<String>()
        }
    }

    fn notes(&mut self, allowed: u64) {
        if self.gathered.notes.is_empty() || allowed < MIN_SECTION {
            return;
        }
        let notes = escape::block(&self.gathered.notes.join("\n"));
        let lines = notes.lines().enumerate().map(|(at, line)| (at, format!("{line}\n")));
        self.list(section::NOTES, lines.collect(), allowed);
    }

    /// The newest to-do list, and the last outcome of each check.
    fn state(&mut self, allowed: u64) {
        let later = self.frame.later;
        let mut lines = Vec::new();
        if let Some(todo) = &self.gathered.todo
            && later.is_none_or(|later| later.todo.is_none())
        {
            lines.push(format!("to-do list @{}:\n", todo.message));
            lines
                .extend(todo.text.lines().map(|line| format!("  {}\n", escape::inline(line, 200))));
        }
        let newer = || self.gathered.checks.iter().chain(later.into_iter().flat_map(|l| &l.checks));
        // What ran again in a message that stays is told there.
        let again = |check: &&Check| {
            !later.is_some_and(|later| later.checks.iter().any(|l| l.command == check.command))
        };
        let checks = self.gathered.checks.iter().rev().filter(again);
        let (failing, passing): (Vec<_>, Vec<_>) = checks.partition(|check| !check.passed);
        let failing: Vec<_> = failing
            .into_iter()
            .filter(|check| !newer().any(|other| other.settles(check)))
            .collect();
        let passing: Vec<_> = passing.into_iter().filter(|check| check.watched).collect();
        lines.extend(failing.iter().take(CHECKS).map(|check| check_line(check)));
        lines.extend(passing.iter().take(CHECKS / 2).map(|check| check_line(check)));
        if let Some(check) = passing.first() {
            let newer = |used: &&FileUse| used.modified && used.message > Some(check.message);
            let count = self.gathered.files.values().filter(newer).count();
            if count > 0 {
                let s = if count == 1 { "" } else { "s" };
                lines.push(format!("{SINCE}{count} file{s}\n"));
            }
        }
        self.list(section::STATE, lines.into_iter().enumerate().collect(), allowed);
    }

    /// What was said and done, and what failed.
    fn statements(&mut self, statements: &[Grouped], allowed: u64) {
        if allowed < MIN_SECTION {
            return;
        }
        let nothing = Vec::new();
        let later = self.frame.later.map_or(&nothing, |later| &later.statements);
        let weighed = weigh(statements, later, self.frame.focus);
        let room = allowed.saturating_sub(2 * self.cost("### Tried and failed\n"));
        // Characters of a token are learned from what was written: counts are for the whole.
        let mut chars = room.saturating_mul(4);
        for _ in 0..6 {
            let lines = lines(&weighed, usize::try_from(chars).unwrap_or(usize::MAX));
            let text = self.sections(statements, &lines);
            let cost = self.cost(&text);
            if cost <= allowed {
                self.push(&text);
                return;
            }
            chars = (chars.min(text.chars().count() as u64) * room / cost.max(1)) * 99 / 100;
        }
    }

    /// The lines by section, in the order of their messages.
    fn sections(&self, statements: &[Grouped], lines: &[(usize, String)]) -> String {
        let mut text = String::new();
        let failed = |kind| matches!(kind, Kind::Failed | Kind::Rejected | Kind::Stopped);
        for (name, wanted) in [(section::DONE, false), (section::FAILED, true)] {
            let of = |(at, _): &&(usize, String)| failed(statements[*at].statement.kind) == wanted;
            let mut chosen: Vec<_> = lines.iter().filter(of).collect();
            if chosen.is_empty() {
                continue;
            }
            chosen.sort_by_key(|(at, _)| statements[*at].statement.message);
            text.push_str(&format!("### {name}\n"));
            for (_, line) in chosen {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }

    /// The files that fit, and how many they are.
    fn files(&self, allowed: u64) -> (String, usize) {
        if self.frame.file_blocks {
            return self.file_blocks(allowed);
        }
        let mut text = format!("### {}\n", section::FILES);
        let mut listed = 0;
        let mut left = allowed.saturating_sub(self.cost(&text));
        for (label, modified) in [("changed", true), ("read", false)] {
            let entry = |(path, used): (String, &FileUse)| match used.message {
                None => path,
                Some(message) => format!("{path} @{message}"),
            };
            let paths: Vec<String> =
                files(self.gathered, modified).into_iter().map(entry).collect();
            let line = |n: usize| format!("{label}: {}\n", paths[..n].join(", "));
            let n = most(1, paths.len(), |n| self.cost(&line(n)) <= left);
            if n > 0 {
                left = left.saturating_sub(self.cost(&line(n)));
                text.push_str(&line(n));
                listed += n;
            }
        }
        if listed == 0 { (String::new(), 0) } else { (text, listed) }
    }

    fn file_blocks(&self, allowed: u64) -> (String, usize) {
        let (mut left, mut listed) = (allowed, 0);
        let mut text = String::new();
        let paths = |modified| -> Vec<String> {
            files(self.gathered, modified).into_iter().map(|(path, _)| path).collect()
        };
        let (changed, read) = (paths(true), paths(false));
        let whole = |label: &str, paths: &[String]| match paths {
            [] => String::new(),
            paths => format!("<{label}>\n{}\n</{label}>\n", paths.join("\n")),
        };
        // Up to a third is the read files': however many changed, neither block vanishes.
        let for_read = self.cost(&whole("read-files", &read)).min(allowed / 3);
        for (label, paths, kept) in [("modified-files", changed, for_read), ("read-files", read, 0)]
        {
            let block = |n: usize| whole(label, &paths[..n]);
            let room = left.saturating_sub(kept);
            let n = most(1, paths.len(), |n| self.cost(&block(n)) <= room);
            if n > 0 {
                left = left.saturating_sub(self.cost(&block(n)));
                text.push_str(&block(n));
                listed += n;
            }
        }
        (text, listed)
    }

    /// Writes the names that fit and says which. Only those that the user or the agent wrote: what
    /// results showed is found by recall.
    fn index(&mut self, ranked: &[Ranked<'_>], allowed: u64) -> Vec<usize> {
        let header = format!("### {}\nnames: ", section::INDEX);
        let mut left = allowed.min(self.left).saturating_sub(self.cost(&header) + 1);
        let mut named = Vec::new();
        let mut text = header;
        for (at, name) in
            ranked.iter().enumerate().filter(|(_, name)| name.written && is_name(name.id))
        {
            let id = escape::inline(name.id, 200);
            let entry = match name.message {
                0 => format!("{id}, "),
                message => format!("{id} @{message}, "),
            };
            let cost = self.cost(&entry);
            if cost > left {
                break;
            }
            left -= cost;
            text.push_str(&entry);
            named.push(at);
        }
        if !named.is_empty() {
            text.truncate(text.len() - 2);
            text.push('\n');
            self.push(&text);
        }
        named
    }
}

/// Figures, and what begins with one, say nothing by themselves: `220p`, `5-10`.
fn is_name(id: &str) -> bool {
    id.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn check_line(check: &Check) -> String {
    let verdict = if check.passed { "ok" } else { "failed, not seen to pass since" };
    let telling = match check.telling.is_empty() {
        true => String::new(),
        false => format!(": {}", escape::inline(&check.telling, 160)),
    };
    format!("`{}` @{} {verdict}{telling}\n", escape::inline(&check.command, 120), check.message)
}

/// The largest `n ≤ max` that fits, for a cost that grows with `n`: looked for from `about` on,
/// further off at each step, because each look counts a text.
fn most(about: usize, max: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high, mut step) = (about.min(max), max, 1);
    while low > 0 && !fits(low) {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    let mut step = 1;
    while low < high {
        let next = (low + step).min(high);
        if !fits(next) {
            high = next - 1;
            break;
        }
        low = next;
        step *= 2;
    }
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Files, newest use first. A file that was changed is listed as changed alone.
fn files(gathered: &Gathered, modified: bool) -> Vec<(String, &FileUse)> {
    let mut found: Vec<_> = gathered
        .files
        .iter()
        .filter(|(_, used)| if modified { used.modified } else { used.read && !used.modified })
        .collect();
    found.sort_by(|a, b| b.1.last.cmp(&a.1.last).then_with(|| a.0.cmp(b.0)));
    found.into_iter().map(|(path, used)| (escape::inline(path, 300), used)).collect()
}

#[cfg(test)]
mod tests;
