//! Composing a recap within a token cap.
//!
//! Each section has a share of the cap and shrinks by rank inside it; no section is dropped
//! whole, and what one leaves unused goes to the next. Identifiers come last and take the rest.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::counter::Content;
use crate::fold::IdList;
use crate::ids::{IdClass, class_of, identifiers};
use crate::recap::escape;
use crate::recap::frame::Frame;
use crate::recap::gather::{FileUse, Gathered, Quote};
use crate::recap::parse::file_entry;
use crate::recap::rank::{Ranked, rank, with_parts};
use crate::recap::redact::Redactor;
use crate::recap::rules::is_strict;
use crate::recap::words::{LABEL, words};
use crate::recap::{END, NOTE_START, section};

/// A composed recap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    /// The text.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The identifiers of the span that the context names: those that its verbatim parts and the
    /// sections name, then those of the identifiers section, best first. A compound such as
    /// `db-prod-1:5432` is followed by its parts.
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

/// Shares of the cap, in parts per 100, in the order of the sections. What the first of them leave
/// unused goes to the next; lists that would always fill what they get keep to their own share,
/// and what is left is for identifiers. Shares and weights are what replay showed to be best.
const SHARES: [(&str, u64, Spare); 7] = [
    (section::TASK, 8, Spare::Taken),
    (section::RULES, 16, Spare::Taken),
    (section::NOTES, 4, Spare::Taken),
    (section::FILES, 12, Spare::Taken),
    (section::STEPS, 5, Spare::Left),
    (section::COMMANDS, 4, Spare::Left),
    (section::ERRORS, 2, Spare::Left),
];

/// Whether a section takes what the sections before it left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spare {
    Taken,
    Left,
}

/// Earlier requests are quoted up to this length, in characters.
const REQUEST_CHARS: usize = 160;
/// Below this a section is not worth its header, in tokens.
const MIN_SECTION: u64 = 12;

/// Composes the recap.
#[must_use]
pub fn compose(gathered: &Gathered, frame: &Frame<'_>) -> Composed {
    let mut writer = Writer { out: String::new(), frame, left: frame.cap };
    writer.push(&head_lines(gathered, frame));
    let end_cost = writer.cost(END) + 4;
    writer.left = writer.left.saturating_sub(end_cost);
    let for_words = frame.words.as_ref().map_or(0, |list| list.cap.min(writer.left));
    writer.left -= for_words;
    let body = writer.left;
    let mut spare = 0;
    let mut narrated = false;
    for (name, share, takes) in SHARES {
        let more = if takes == Spare::Taken { spare } else { 0 };
        let allowed = (body * share / 100 + more).min(writer.left);
        let before = writer.left;
        writer.section(name, gathered, allowed);
        spare = allowed.saturating_sub(before - writer.left);
        if name == section::TASK {
            narrated = writer.narration();
        }
    }
    let sections = writer.out.clone();
    let said: FxHashSet<&str> = identifiers(&sections).collect();
    let ranked = rank(gathered, frame, &said, usize::try_from(frame.cap).unwrap_or(usize::MAX));
    let named = writer.identifiers(&ranked.best);
    writer.words(for_words);
    writer.out.push_str(END);
    let (text, redacted) = Redactor::shared().redact(&writer.out);
    let text = text.into_owned();
    let (best, lost) = ranked.best.split_at(named);
    let best = best.iter().map(|ranked| ranked.id);
    let kept = ranked.said.iter().copied().chain(best).flat_map(with_parts);
    Composed {
        tokens: u64::from(frame.counter.count(&text, Content::Prose)),
        kept: IdList::of(kept, 0),
        lost: IdList::of(lost.iter().map(|ranked| ranked.id), ranked.rest),
        files: named_files(gathered, &sections),
        text,
        redacted,
        narrated,
    }
}

/// Files that the sections name; the others did not fit.
fn named_files(gathered: &Gathered, sections: &str) -> usize {
    let label =
        |line| ["modified: ", "read: "].iter().find_map(|label| str::strip_prefix(line, label));
    let lines = sections.lines().map(|line| label(line).unwrap_or(line));
    let named: FxHashSet<&str> =
        lines.flat_map(|line| line.split(", ")).map(|entry| file_entry(entry).0).collect();
    gathered.files.keys().filter(|path| named.contains(path.as_str())).count()
}

fn head_lines(gathered: &Gathered, frame: &Frame<'_>) -> String {
    let count = gathered.messages;
    let s = if count == 1 { "" } else { "s" };
    let newest = if gathered.edited {
        "newer ones follow, some shortened; names from those stand here, too"
    } else {
        "the newest follow verbatim"
    };
    format!(
        "{}\n{NOTE_START} {count} earlier message{s} folded into this recap; {newest}. \
         @n: last used in the nth of them. \
         Not covered here: file contents, full outputs, reasoning. Read again what you need.]\n",
        frame.header
    )
}

struct Writer<'a> {
    out: String,
    frame: &'a Frame<'a>,
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

    /// A narration that would take more than half of what is left says too much for this cap.
    /// True when it stands.
    fn narration(&mut self) -> bool {
        let text = self.frame.narration;
        let fits = !text.is_empty() && self.cost(text) * 2 <= self.left;
        if fits {
            self.push(text);
        }
        fits
    }

    fn section(&mut self, name: &str, gathered: &Gathered, allowed: u64) {
        if allowed < MIN_SECTION {
            return;
        }
        match name {
            section::TASK => self.task(gathered, allowed),
            section::RULES => {
                let line = |q: &Quote| item(&q.text, 320);
                let mut rules: Vec<_> = gathered.rules.iter().rev().enumerate().collect();
                // Orders before sentences that only may be some: those go first when it gets tight.
                rules.sort_by_key(|(_, rule)| !is_strict(&rule.text));
                let rules = rules.into_iter().map(|(age, rule)| (age, line(rule)));
                self.list(name, rules.collect(), allowed);
            }
            section::NOTES => self.notes(gathered, allowed),
            section::FILES if self.frame.file_blocks => self.file_blocks(gathered, allowed),
            section::FILES => self.files(gathered, allowed),
            section::STEPS => {
                let lines = newest_distinct(gathered.steps.iter().map(|line| item(line, 200)));
                self.list(name, lines, allowed);
            }
            section::COMMANDS => {
                let mut seen = FxHashSet::default();
                let newest = gathered.commands.iter().rev().filter(|c| seen.insert(&c.text));
                let line = |c: &super::gather::Command| {
                    format!(
                        "- `{}` -> {}\n",
                        escape::inline(&c.text, 160),
                        escape::inline(&c.outcome, 120)
                    )
                };
                self.list(name, newest.map(line).enumerate().collect(), allowed);
            }
            _ => {
                let lines = newest_distinct(gathered.errors.iter().map(|line| item(line, 200)));
                self.list(name, lines, allowed);
            }
        }
    }

    /// Writes the lines, given best first with their age, that fit; in the log's order.
    fn list(&mut self, name: &str, best_first: Vec<(usize, String)>, allowed: u64) {
        let header = format!("### {name}\n");
        let mut left = allowed.saturating_sub(self.cost(&header));
        let mut chosen: Vec<(usize, String)> = Vec::new();
        for (age, line) in best_first {
            let cost = self.cost(&line);
            if cost > left {
                if chosen.is_empty() {
                    continue;
                }
                break;
            }
            left -= cost;
            chosen.push((age, line));
        }
        if chosen.is_empty() {
            return;
        }
        chosen.sort_by_key(|(age, _)| Reverse(*age));
        self.push(&chosen.into_iter().fold(header, |text, (_, line)| text + &line));
    }

    fn task(&mut self, gathered: &Gathered, allowed: u64) {
        let Some((last, earlier)) = gathered.requests.split_last() else { return };
        let mut text = format!("### {}\n", section::TASK);
        let mut left = allowed.saturating_sub(self.cost(&text));
        let mut earlier = earlier.iter().rev().collect::<Vec<_>>();
        let task = if self.frame.task_elsewhere {
            earlier.insert(0, last);
            String::new()
        } else {
            self.quote(&last.text, left * 3 / 4)
        };
        left = left.saturating_sub(self.cost(&task));
        let mut lines = Vec::new();
        for request in earlier {
            let line = item(&request.text, REQUEST_CHARS);
            let cost = self.cost(&line);
            if cost > left {
                break;
            }
            left -= cost;
            lines.push(line);
        }
        lines.reverse();
        if lines.is_empty() && task.is_empty() {
            return;
        }
        text.extend(lines);
        text.push_str(&task);
        self.push(&text);
    }

    /// A verbatim block; head and tail of it where it is too long.
    fn quote(&self, text: &str, allowed: u64) -> String {
        let whole = escape::block(text);
        if self.cost(&whole) <= allowed {
            return whole;
        }
        let lines: Vec<&str> = whole.lines().collect();
        let keep = |n: usize| {
            let front = n.div_ceil(2).min(lines.len());
            let back = n / 2;
            let mut cut: Vec<String> = lines[..front].iter().map(|l| clip(l, 600)).collect();
            cut.push("    […]".to_owned());
            cut.extend(
                lines[lines.len() - back.min(lines.len() - front)..].iter().map(|l| clip(l, 600)),
            );
            cut.join("\n") + "\n"
        };
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.cost(&keep(middle)) <= allowed { low = middle } else { high = middle - 1 }
        }
        if low == 0 { String::new() } else { keep(low) }
    }

    fn notes(&mut self, gathered: &Gathered, allowed: u64) {
        if gathered.notes.is_empty() {
            return;
        }
        let header = format!("### {}\n", section::NOTES);
        let left = allowed.saturating_sub(self.cost(&header));
        let text = self.quote(&gathered.notes.join("\n"), left);
        if !text.is_empty() {
            self.push(&(header + &text));
        }
    }

    fn files(&mut self, gathered: &Gathered, allowed: u64) {
        let mut text = format!("### {}\n", section::FILES);
        let mut left = allowed.saturating_sub(self.cost(&text));
        let mut any = false;
        for (label, modified) in [("modified", true), ("read", false)] {
            let entry = |(path, used): (String, &FileUse)| match used.message {
                0 => path,
                message => format!("{path} @{message}"),
            };
            let paths: Vec<String> = files(gathered, modified).into_iter().map(entry).collect();
            let line = |n: usize| format!("{label}: {}\n", paths[..n].join(", "));
            let n = most(1, paths.len(), |n| self.cost(&line(n)) <= left);
            if n > 0 {
                left = left.saturating_sub(self.cost(&line(n)));
                text.push_str(&line(n));
                any = true;
            }
        }
        if any {
            self.push(&text);
        }
    }

    fn file_blocks(&mut self, gathered: &Gathered, allowed: u64) {
        let mut left = allowed;
        for (label, modified) in [("modified-files", true), ("read-files", false)] {
            let paths: Vec<_> =
                files(gathered, modified).into_iter().map(|(path, _)| path).collect();
            let block = |n: usize| format!("<{label}>\n{}\n</{label}>\n", paths[..n].join("\n"));
            let n = most(1, paths.len(), |n| self.cost(&block(n)) <= left);
            if n > 0 {
                left = left.saturating_sub(self.cost(&block(n)));
                self.push(&block(n));
            }
        }
    }

    /// Writes as many identifiers as fit and says how many. The best by what they are worth are
    /// taken, and stand in the order of their hope: the next fold reads the hope of a name off its
    /// place, and what a name costs must not count anew at every fold.
    fn identifiers(&mut self, ranked: &[Ranked<'_>]) -> usize {
        let room = self.left.saturating_sub(self.cost(&identifier_lines(&[], 0)));
        let names: Vec<&str> = ranked.iter().map(|ranked| ranked.id).collect();
        let mut n = self.fitting(&names, room);
        let mut places: Vec<_> = (0..n).map(|at| (at, class_of(names[at]), names[at])).collect();
        places.sort_by_key(|(at, ..)| Reverse(ranked[*at].hope));
        // The parts were counted apart; the whole decides.
        while n > 0 {
            let text = identifier_lines(&places, n);
            let cost = self.cost(&text);
            if cost <= self.left {
                self.left -= cost;
                self.out.push_str(&text);
                return n;
            }
            n -= n.div_ceil(50);
        }
        0
    }

    /// Writes the words that fit into `allowed`, the last that is written.
    fn words(&mut self, allowed: u64) {
        let Some(list) = self.frame.words.as_ref().filter(|_| allowed >= MIN_SECTION) else {
            return;
        };
        let written = self.out.clone();
        let written: FxHashSet<&str> = words(&written).collect();
        let elsewhere = |word: &str| written.contains(word) || list.elsewhere.contains(word);
        let room = usize::try_from(allowed).unwrap_or(usize::MAX);
        let ranked = list.words.ranked(elsewhere, room);
        let text =
            |n: usize| format!("### {}\n{LABEL} {}\n", section::WORDS, ranked[..n].join(" "));
        let fits = |n: usize| self.cost(&text(n)) <= allowed;
        let about = self.fitting(&ranked, allowed.saturating_sub(self.cost(&text(0))));
        let n = most(about, ranked.len(), fits);
        if n > 0 {
            self.out.push_str(&text(n));
        }
    }

    /// About how many names fit into `left`: each is counted once, in groups, because single counts
    /// round up.
    fn fitting(&self, names: &[&str], mut left: u64) -> usize {
        const GROUP: usize = 16;
        let mut n = 0;
        for group in names.chunks(GROUP) {
            let text: String = group.iter().flat_map(|name| [name, " "]).collect();
            let cost = self.cost(&text);
            if cost > left {
                return n + usize::try_from(left * group.len() as u64 / cost.max(1)).unwrap_or(0);
            }
            left -= cost;
            n += group.len();
        }
        n
    }
}

/// The lines of the section, a class each, of the names whose rank is below `n`.
fn identifier_lines(places: &[(usize, IdClass, &str)], n: usize) -> String {
    let mut text = format!("### {}\n", section::IDENTIFIERS);
    for (label, class) in
        [("paths", IdClass::Path), ("names", IdClass::Symbol), ("values", IdClass::Value)]
    {
        let shown = places.iter().filter(|(rank, of, _)| *rank < n && *of == class);
        let mut ids = shown.map(|(_, _, id)| id).peekable();
        if ids.peek().is_some() {
            text.push_str(label);
            text.push(':');
            for id in ids {
                text.push(' ');
                text.push_str(id);
            }
            text.push('\n');
        }
    }
    text
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

fn item(text: &str, max: usize) -> String {
    format!("- {}\n", escape::inline(text, max))
}

fn clip(line: &str, max: usize) -> String {
    match line.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Each line once, the newest first, with its age.
fn newest_distinct(lines: impl DoubleEndedIterator<Item = String>) -> Vec<(usize, String)> {
    let mut seen = FxHashSet::default();
    lines.rev().filter(|line| seen.insert(line.clone())).enumerate().collect()
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
