//! Composing a recap within a token cap.
//!
//! Each section has a share of the cap and shrinks by rank inside it; no section is dropped
//! whole, and what one leaves unused goes to the next. Identifiers come last and take the rest.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::counter::{Content, Counter};
use crate::fold::IdList;
use crate::ids::{IdClass, class_of, identifiers};
use crate::recap::escape;
use crate::recap::gather::Gathered;
use crate::recap::idtable::IdUse;
use crate::recap::redact::Redactor;
use crate::recap::{END, NOTE_START, section};

/// What composing needs to know beside the gathered material.
pub struct Frame<'a> {
    /// The most the recap may cost, in counted tokens.
    pub cap: u64,
    /// Sections that a model wrote; they stand after the task. Empty without one.
    pub narration: &'a str,
    /// Counts tokens.
    pub counter: &'a dyn Counter,
    /// The schema's first line.
    pub header: &'a str,
    /// Identifiers that the context carries elsewhere: they need no place here.
    pub elsewhere: &'a FxHashSet<&'a str>,
    /// The newest request stands verbatim elsewhere.
    pub task_elsewhere: bool,
    /// Write `<read-files>` and `<modified-files>` blocks instead of a files section.
    pub file_blocks: bool,
    /// What a manual compaction asked to keep, as lower-case words.
    pub focus: &'a [String],
}

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
    pub ids: Vec<String>,
    /// How many found no place.
    pub lost: usize,
    /// The best of them.
    pub worst: Vec<String>,
    /// Files named.
    pub files: usize,
    /// Secrets that were replaced.
    pub redacted: u32,
    /// The narration found room.
    pub narrated: bool,
}

/// Shares of the cap, in parts per 100, in the order of the sections. What is not used moves on.
const SHARES: [(&str, u64); 6] = [
    (section::TASK, 8),
    (section::RULES, 8),
    (section::NOTES, 4),
    (section::FILES, 12),
    (section::COMMANDS, 5),
    (section::ERRORS, 3),
];
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
    let body = writer.left;
    let mut spare = 0;
    let mut narrated = false;
    for (name, share) in SHARES {
        let allowed = (body * share / 100 + spare).min(writer.left);
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
    writer.out.push_str(END);
    let (text, redacted) = Redactor::shared().redact(&writer.out);
    let text = text.into_owned();
    let owned = |ids: &[Ranked<'_>]| ids.iter().map(|r| r.id.to_owned()).collect::<Vec<_>>();
    let named_ids = ranked.said.iter().chain(ranked.best[..named].iter().map(|r| &r.id));
    Composed {
        tokens: u64::from(frame.counter.count(&text, Content::Prose)),
        ids: named_ids.flat_map(|id| with_parts(id)).map(str::to_owned).collect(),
        lost: ranked.best.len() - named + ranked.rest,
        worst: owned(&ranked.best[named..]),
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
    let named: FxHashSet<&str> = lines.flat_map(|line| line.split(", ")).collect();
    gathered.files.keys().filter(|path| named.contains(path.as_str())).count()
}

fn head_lines(gathered: &Gathered, frame: &Frame<'_>) -> String {
    let count = gathered.messages;
    let s = if count == 1 { "" } else { "s" };
    format!(
        "{}\n{NOTE_START} {count} earlier message{s} folded into this recap; the newest follow verbatim. \
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
                let rules: Vec<String> =
                    gathered.rules.iter().rev().map(|q| item(&q.text, 320)).collect();
                self.list(name, &rules, allowed);
            }
            section::NOTES => self.notes(gathered, allowed),
            section::FILES if self.frame.file_blocks => self.file_blocks(gathered, allowed),
            section::FILES => self.files(gathered, allowed),
            section::COMMANDS => {
                let line = |c: &super::gather::Command| {
                    format!(
                        "- `{}` -> {}\n",
                        escape::inline(&c.text, 160),
                        escape::inline(&c.outcome, 120)
                    )
                };
                let lines = newest_distinct(gathered.commands.iter().map(line));
                self.list(name, &lines, allowed);
            }
            _ => {
                let lines = newest_distinct(gathered.errors.iter().map(|line| item(line, 200)));
                self.list(name, &lines, allowed);
            }
        }
    }

    /// Writes the lines, given best first, that fit; in the log's order, which is the reverse.
    fn list(&mut self, name: &str, best_first: &[String], allowed: u64) {
        let header = format!("### {name}\n");
        let mut left = allowed.saturating_sub(self.cost(&header));
        let mut chosen: Vec<&String> = Vec::new();
        for line in best_first {
            let cost = self.cost(line);
            if cost > left {
                if chosen.is_empty() {
                    continue;
                }
                break;
            }
            left -= cost;
            chosen.push(line);
        }
        if chosen.is_empty() {
            return;
        }
        let lines: String = chosen.into_iter().rev().map(String::as_str).collect();
        self.push(&(header + &lines));
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
            let paths = paths(gathered, modified);
            let line = |n: usize| format!("{label}: {}\n", paths[..n].join(", "));
            let n = most(paths.len(), |n| self.cost(&line(n)) <= left);
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
            let paths = paths(gathered, modified);
            let block = |n: usize| format!("<{label}>\n{}\n</{label}>\n", paths[..n].join("\n"));
            let n = most(paths.len(), |n| self.cost(&block(n)) <= left);
            if n > 0 {
                left = left.saturating_sub(self.cost(&block(n)));
                self.push(&block(n));
            }
        }
    }

    /// Writes as many identifiers as fit, best first, and says how many.
    fn identifiers(&mut self, ranked: &[Ranked<'_>]) -> usize {
        let mut n = self.fitting(ranked);
        // The parts were counted apart; the whole decides.
        while n > 0 {
            let text = identifier_lines(&ranked[..n]);
            if self.cost(&text) <= self.left {
                self.push(&text);
                return n;
            }
            n -= n.div_ceil(50);
        }
        0
    }

    /// About how many identifiers fit: each is counted once, in groups, because single counts
    /// round up.
    fn fitting(&self, ranked: &[Ranked<'_>]) -> usize {
        const GROUP: usize = 16;
        let mut left = self.left.saturating_sub(self.cost(&identifier_lines(&[])));
        let mut n = 0;
        for group in ranked.chunks(GROUP) {
            let text: String = group.iter().flat_map(|r| [r.id, " "]).collect();
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

fn identifier_lines(ranked: &[Ranked<'_>]) -> String {
    let mut text = format!("### {}\n", section::IDENTIFIERS);
    for (label, class) in
        [("paths", IdClass::Path), ("names", IdClass::Symbol), ("values", IdClass::Value)]
    {
        let mut ids = ranked.iter().filter(|r| r.class == class).map(|r| r.id).peekable();
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

/// The largest `n ≤ max` that fits, for a cost that grows with `n`.
fn most(max: usize, fits: impl Fn(usize) -> bool) -> usize {
    // Most lists are short against the cap or far too long: gallop before bisecting.
    let mut high = 1;
    while high < max && fits(high) {
        high *= 2;
    }
    let (mut low, mut high) = (high / 2, high.min(max));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low.min(max)
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

fn newest_distinct(lines: impl DoubleEndedIterator<Item = String>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    lines.rev().filter(|line| seen.insert(line.clone())).collect()
}

/// Paths, newest use first. A file that was changed is listed as changed alone.
fn paths(gathered: &Gathered, modified: bool) -> Vec<String> {
    let mut found: Vec<_> = gathered
        .files
        .iter()
        .filter(|(_, used)| if modified { used.modified } else { used.read && !used.modified })
        .collect();
    found.sort_by(|a, b| b.1.last.cmp(&a.1.last).then_with(|| a.0.cmp(b.0)));
    found.into_iter().map(|(path, _)| escape::inline(path, 300)).collect()
}

/// An identifier that needs a place.
struct Ranked<'a> {
    id: &'a str,
    class: IdClass,
}

/// Identifiers by what they are worth.
struct Ranking<'a> {
    /// The best, best first.
    best: Vec<Ranked<'a>>,
    /// How many more there are.
    rest: usize,
    /// Those that stand in the context already, best first.
    said: Vec<&'a str>,
}

/// The identifier, and its parts where it is a compound of identifiers.
fn with_parts(id: &str) -> impl Iterator<Item = &str> {
    let parts = id.split(':').filter(move |part| part.len() < id.len());
    std::iter::once(id).chain(parts.filter(|part| identifiers(part).next() == Some(*part)))
}

/// Ranks the identifiers that stand nowhere else. More than `room` (a token each at least) can
/// never be named, so only that many are put in order.
fn rank<'a>(
    gathered: &'a Gathered,
    frame: &Frame<'_>,
    said: &FxHashSet<&str>,
    room: usize,
) -> Ranking<'a> {
    let newest = gathered.ids.iter().map(|(_, used)| used.last).max().unwrap_or(1).max(1);
    let mut already: Vec<(Reverse<u64>, u32, &str)> = Vec::new();
    let mut ranked: Vec<(Reverse<u64>, u32, &str)> = Vec::with_capacity(gathered.ids.len());
    for (id, used) in gathered.ids.iter() {
        let named = frame.elsewhere.contains(id) || said.contains(id);
        let list = if named { &mut already } else { &mut ranked };
        list.push((Reverse(score(id, used, newest, frame.focus)), used.first, id));
    }
    let keep = room.saturating_add(IdList::SHOWN).min(ranked.len());
    if keep < ranked.len() {
        ranked.select_nth_unstable(keep);
    }
    let rest = ranked.len() - keep;
    ranked.truncate(keep);
    ranked.sort_unstable();
    let best = ranked.into_iter().map(|(_, _, id)| Ranked { id, class: class_of(id) }).collect();
    already.sort_unstable();
    Ranking { best, rest, said: already.into_iter().map(|(_, _, id)| id).collect() }
}

/// Value of an identifier per character that it costs. Who used it counts most: what the agent
/// wrote itself it writes again; then how lately; how often a result shows it says little. The
/// weights are what replay showed to be best (docs/PRESETS.md); recall is flat around them.
fn score(id: &str, used: &IdUse, newest: u32, focus: &[String]) -> u64 {
    let mut value = 100 * log2(used.said) + 75 * log2(used.user) + 10 * log2(used.result);
    value += 9 * u64::from(used.carried) / 10;
    value += 300 * u64::from(used.last) / u64::from(newest);
    if !focus.is_empty() && focus.iter().any(|word| id.to_lowercase().contains(word)) {
        value += 3_000;
    }
    // A name costs its length and a space; the constant keeps the shortest from always winning.
    value * 64 / (id.len() as u64 + 40)
}

/// `4 × log2(1 + n)`, linear between powers of two.
fn log2(n: u32) -> u64 {
    let n = u64::from(n) + 1;
    let whole = u64::from(n.ilog2());
    let base = 1u64 << whole;
    4 * whole + 4 * (n - base) / base
}
