//! The lines by which known tools say how they ended, read from `data/outcomes.toml`.
//!
//! One search finds the lines that hold a piece of a pattern; only those are matched. Most lines
//! hold none, and a conversation holds ten thousand results.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::glob::Glob;
use super::lines::{self, Windows};
use super::proof::Proof;
use super::verdict::Verdict;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lines: Vec<Lines>,
    shows: Shows,
    tools: Own,
    edits: Own,
    noise: Noise,
    absent: Noise,
    background: Noise,
    refusals: Vec<Refusal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Lines {
    of: String,
    failed: Vec<String>,
    passed: Vec<String>,
    broken: Vec<String>,
    errors: Vec<String>,
    done: Vec<String>,
    harmless: Vec<String>,
    after: Option<String>,
    last: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shows {
    complaints: Vec<String>,
    errors: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    errors: Vec<String>,
    #[serde(default)]
    done: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Noise {
    lines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    verdict: Word,
    starts: Vec<String>,
    lines: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Rejected,
    Interrupted,
}

/// What a line is a sign of, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Harmless,
    Failed,
    Broken,
    Passed,
    Error,
    Done,
}

struct Mark {
    glob: Glob,
    sign: Sign,
    /// The tools that write it.
    of: &'static str,
    after: Option<String>,
    last: bool,
}

/// Lines at the end of an output in which a sign of success speaks for the whole.
const NEAR: usize = 20;

/// The file, ready to be used.
pub(super) struct Known {
    marks: Vec<Mark>,
    pieces: AhoCorasick,
    /// Marks by piece.
    by_piece: Vec<Vec<usize>>,
    complaints: Vec<String>,
    shown: Vec<Glob>,
    tool_errors: Vec<Glob>,
    edit_errors: Vec<Glob>,
    edit_done: Vec<Glob>,
    noise: Vec<Glob>,
    absent: Vec<Glob>,
    background: Vec<Glob>,
    refusals: Vec<Refusal>,
}

/// None only if the file, which is part of the program and which tests read, is broken.
pub(super) fn table() -> Option<&'static Known> {
    static TABLE: LazyLock<Option<Known>> = LazyLock::new(|| {
        let file = toml::from_str(include_str!("../../../data/outcomes.toml")).ok()?;
        Known::new(file)
    });
    TABLE.as_ref()
}

fn globs(patterns: &[String]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::new(pattern)).collect()
}

fn any(globs: &[Glob], line: &str) -> bool {
    globs.iter().any(|glob| glob.matches(line))
}

/// Where in a result the signs stand, and the lines.
#[derive(Default)]
pub(super) struct Signs {
    /// The last totals with failures.
    pub failed: Option<String>,
    failed_at: Option<usize>,
    passed: Option<(usize, String)>,
    /// The first line of an error.
    error: Option<String>,
    /// Whether something is for certain broken.
    broken: bool,
    /// Where the last sign of an error is.
    bad_at: Option<usize>,
    done: Option<String>,
    /// Whether a sign beside totals is bad.
    beside: bool,
    /// The tools that wrote the totals with failures, or the first error.
    pub of: &'static str,
    /// The tools that wrote the totals without one.
    pub passed_of: &'static str,
}

impl Signs {
    /// Whether totals without a failure follow the last ones with one, and no error does.
    pub(super) fn recovered(&self) -> bool {
        let passed = self.passed.as_ref().map(|(at, _)| *at);
        self.failed.is_some() && passed > self.failed_at && passed > self.bad_at
    }

    /// A sign of failure that is no total.
    pub(super) fn bad_beside_totals(&self) -> bool {
        self.beside && self.bad()
    }

    /// A sign of failure that no later totals take back.
    pub(super) fn bad(&self) -> bool {
        let passed = self.passed.as_ref().map(|(at, _)| *at);
        self.failed.is_some() || self.broken || self.bad_at.is_some_and(|at| Some(at) > passed)
    }

    /// A sign of success.
    pub(super) fn good(&self) -> bool {
        self.passed.is_some() || self.done.is_some()
    }

    /// The line of them that says most.
    pub(super) fn telling(&self, verdict: Option<Verdict>) -> Option<String> {
        let passed = || self.passed.as_ref().map(|(_, line)| line.clone());
        match verdict {
            Some(Verdict::Failed) => self.failed.clone().or_else(|| self.error.clone()),
            Some(Verdict::Ok) => passed().or_else(|| self.done.clone()),
            _ => None,
        }
    }

    fn add(&mut self, sign: Sign, of: &'static str, at: usize, line: &str) {
        if sign == Sign::Failed || matches!(sign, Sign::Broken | Sign::Error) && self.of.is_empty()
        {
            self.of = of;
        }
        self.beside |= matches!(sign, Sign::Broken | Sign::Error);
        let numbers = |line: &str| line.bytes().any(|b| b.is_ascii_digit());
        match sign {
            Sign::Harmless => {}
            Sign::Failed => {
                self.failed_at = self.failed_at.max(Some(at));
                let known = self.failed.as_deref();
                if known.is_none_or(|known| numbers(line) || !numbers(known)) {
                    self.failed = Some(line.to_owned());
                }
            }
            Sign::Passed => {
                self.passed = Some((at, line.to_owned()));
                self.passed_of = of;
            }
            Sign::Broken | Sign::Error => {
                self.error.get_or_insert_with(|| line.to_owned());
                self.broken |= sign == Sign::Broken;
                self.bad_at = self.bad_at.max(Some(at));
            }
            Sign::Done => self.done = Some(line.to_owned()),
        }
    }
}

impl Known {
    fn new(file: File) -> Option<Self> {
        let mut marks = Vec::new();
        for lines in file.lines {
            // The table lives as long as the program.
            let of: &'static str = lines.of.clone().leak();
            let lists = [
                (Sign::Harmless, &lines.harmless),
                (Sign::Failed, &lines.failed),
                (Sign::Broken, &lines.broken),
                (Sign::Passed, &lines.passed),
                (Sign::Error, &lines.errors),
                (Sign::Done, &lines.done),
            ];
            for (sign, patterns) in lists {
                marks.extend(patterns.iter().map(|pattern| Mark {
                    glob: Glob::new(pattern),
                    sign,
                    of,
                    after: lines.after.clone(),
                    last: lines.last,
                }));
            }
        }
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut by_piece: Vec<Vec<usize>> = Vec::new();
        let mut pieces = Vec::new();
        for (at, mark) in marks.iter().enumerate() {
            let piece = mark.glob.needs();
            let number = *numbers.entry(piece).or_insert_with(|| {
                pieces.push(piece);
                by_piece.push(Vec::new());
                by_piece.len() - 1
            });
            by_piece[number].push(at);
        }
        let pieces = AhoCorasick::new(&pieces).ok()?;
        Some(Self {
            marks,
            pieces,
            by_piece,
            complaints: file.shows.complaints,
            shown: globs(&file.shows.errors),
            tool_errors: globs(&file.tools.errors),
            edit_errors: globs(&file.edits.errors),
            edit_done: globs(&file.edits.done),
            noise: globs(&file.noise.lines),
            absent: globs(&file.absent.lines),
            background: globs(&file.background.lines),
            refusals: file.refusals,
        })
    }

    /// The signs in the output of a command.
    pub(super) fn signs(&self, windows: &Windows<'_>) -> Signs {
        let mut signs = Signs::default();
        for (from, window) in windows.parts() {
            let mut found: Vec<(usize, Sign, &'static str)> = Vec::new();
            for hit in self.pieces.find_overlapping_iter(window) {
                let start = window[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
                let line = lines::clean(line_at(window, start));
                let marks = self.by_piece.get(hit.pattern().as_usize()).into_iter().flatten();
                let marks = marks.filter_map(|&mark| self.marks.get(mark));
                let applies = |mark: &&Mark| {
                    mark.glob.matches(&line)
                        && mark.after.as_ref().is_none_or(|after| is_below(window, start, after))
                        && (!mark.last || self.is_last(window, start))
                };
                found.extend(marks.filter(applies).map(|mark| (start, mark.sign, mark.of)));
            }
            // What was done long before the end is not the whole.
            let near = window.len()
                - window
                    .rsplit('\n')
                    .take(NEAR)
                    .map(|l| l.len() + 1)
                    .sum::<usize>()
                    .min(window.len());
            found.retain(|&(start, sign, _)| {
                sign != Sign::Done || from == windows.from && start >= near
            });
            found.sort_unstable();
            // The strongest sign of a line counts.
            found.dedup_by_key(|(start, ..)| *start);
            for (start, sign, of) in found {
                let raised = raised(window, start);
                let line = lines::clean(raised.unwrap_or_else(|| line_at(window, start)));
                signs.add(sign, of, from + start, &line);
            }
        }
        signs
    }

    /// Whether nothing follows but what harnesses write.
    fn is_last(&self, window: &str, start: usize) -> bool {
        let rest = window[start..].split_once('\n').map_or("", |(_, rest)| rest);
        lines::lines(rest).all(|line| !lines::says(&line) || self.is_noise(&line))
    }

    /// The signs in the output of a command that shows content: only what its programs say of
    /// themselves.
    pub(super) fn complaints(&self, windows: &Windows<'_>, proof: &Proof) -> Signs {
        let mut signs = Signs::default();
        for (from, window) in windows.parts() {
            let mut at = from;
            for raw in window.split_inclusive('\n') {
                let line = lines::clean(raw);
                let named = proof.programs.iter().any(|program| {
                    let rest = line.strip_prefix(&**program).and_then(|r| r.strip_prefix(": "));
                    rest.is_some_and(|rest| {
                        self.complaints.iter().any(|word| rest.contains(&**word))
                    }) && !(program == "find" && line.ends_with("Permission denied"))
                        && !line.contains("binary file matches")
                });
                if named || any(&self.shown, &line) {
                    signs.add(Sign::Error, "", at, &line);
                }
                at += raw.len();
            }
        }
        signs
    }

    /// Whether the line is the own error of a tool that runs no command.
    pub(super) fn tool_error(&self, line: &str, changes: bool) -> bool {
        any(&self.tool_errors, line) || (changes && any(&self.edit_errors, line))
    }

    /// Whether the line says that a change was made.
    pub(super) fn edit_done(&self, line: &str) -> bool {
        any(&self.edit_done, line)
    }

    /// Whether a harness wrote the line about the output.
    pub(super) fn is_noise(&self, line: &str) -> bool {
        any(&self.noise, line)
    }

    /// Whether a tool writes the line where all went well.
    pub(super) fn says_well(&self, line: &str) -> bool {
        let signs = self.signs(&Windows::of(line));
        matches!(line.trim_end_matches('.'), "ok" | "OK" | "Done" | "done" | "PASS")
            || signs.good() && !signs.bad()
    }

    /// Whether a shell or an interpreter says that what it was to run is not there.
    pub(super) fn is_absent(&self, windows: &Windows<'_>, told: &str) -> bool {
        let mut last = lines::lines(windows.tail).rev().filter(|line| lines::says(line));
        any(&self.absent, told) || last.by_ref().take(3).any(|line| any(&self.absent, &line))
    }

    /// Whether the result says that the command goes on behind it.
    pub(super) fn runs_on(&self, windows: &Windows<'_>) -> bool {
        let mut first = lines::lines(windows.head).filter(|line| lines::says(line));
        first.by_ref().take(3).any(|line| any(&self.background, &line))
    }

    /// The line that says most where no sign does: in a failure the first that speaks of one.
    pub(super) fn telling(
        &self,
        windows: &Windows<'_>,
        verdict: Option<Verdict>,
    ) -> Option<String> {
        const WORDS: [&str; 6] = ["rror", "ailed", "ailure", "FAIL", "ERROR", "annot "];
        let speaks = |line: &str| WORDS.iter().any(|word| line.contains(word));
        if verdict == Some(Verdict::Failed) {
            let mut lines = windows.parts().flat_map(|(_, window)| lines::lines(window));
            let found = lines.find(|l| lines::says(l) && speaks(l) && !self.is_noise(l));
            if let Some(line) = found {
                return Some(lines::telling(&line));
            }
        }
        self.last_line(windows)
    }

    /// The first line that says something.
    pub(super) fn first_line(&self, windows: &Windows<'_>) -> Option<String> {
        let mut lines = lines::lines(windows.head);
        let line = lines.find(|line| lines::says(line) && !self.is_noise(line))?;
        Some(lines::telling(&line))
    }

    /// The last line that says something.
    pub(super) fn last_line(&self, windows: &Windows<'_>) -> Option<String> {
        let refused = |line: &str| self.refusals.iter().any(|r| r.lines.iter().any(|l| l == line));
        let mut lines = lines::lines(windows.tail).rev();
        let line = lines.find(|l| lines::says(l) && !self.is_noise(l) && !refused(l))?;
        Some(lines::telling(&line))
    }

    /// Whether the call was forbidden or stopped, and what the user said about it.
    pub(super) fn refusal(
        &self,
        windows: &Windows<'_>,
        flagged: Option<bool>,
    ) -> Option<(Verdict, Option<String>)> {
        let mut own = lines::lines(windows.head).filter(|line| !line.is_empty());
        let mut first = own.next().unwrap_or_default();
        for prefix in ["Error: ", "error: ", "Error:", "⚠️ "] {
            if let Some(rest) = first.strip_prefix(prefix) {
                first = rest.trim_start().to_owned().into();
            }
        }
        let last = lines::lines(windows.tail).rev().find(|line| !line.is_empty());
        let last = last.unwrap_or_default();
        let second = own.find(|line| !self.is_noise(line)).unwrap_or_default();
        for refusal in &self.refusals {
            let starts = refusal.starts.iter().any(|start| first.starts_with(&**start));
            let says = |line: &str| refusal.lines.iter().any(|l| l == line);
            // A flag that says that all went well says so of what is at the end as well.
            if starts && flagged != Some(false)
                || says(&first)
                || self.is_noise(&first) && says(&second)
                || says(&last) && flagged != Some(false)
            {
                return Some(match refusal.verdict {
                    Word::Rejected => (Verdict::Rejected, reason(windows, &refusal.after)),
                    Word::Interrupted => (Verdict::Interrupted, None),
                });
            }
        }
        None
    }
}

/// The line that starts here.
fn line_at(window: &str, start: usize) -> &str {
    window[start..].split('\n').next().unwrap_or_default()
}

/// Whether a line above begins so.
fn is_below(window: &str, start: usize, begin: &str) -> bool {
    window[..start].lines().rev().take(6).any(|line| line.trim_start().starts_with(begin))
}

/// The exception below a Python traceback that starts here: the first line that is not indented
/// and begins with a name. What the program printed itself may be between.
fn raised(window: &str, start: usize) -> Option<&str> {
    if !line_at(window, start).trim_start().starts_with("Traceback (most recent call last)") {
        return None;
    }
    let margin = line_at(window, start).len() - line_at(window, start).trim_start().len();
    let below = window[start..].split('\n').skip(1);
    let mut below = below.filter(|line| !line.trim().is_empty());
    below.find(|line| {
        let name = line.trim().split(':').next().unwrap_or_default();
        line.len() - line.trim_start().len() <= margin
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    })
}

/// What the user said: the text behind the words that lead to it.
fn reason(windows: &Windows<'_>, leads: &[String]) -> Option<String> {
    let text = windows.head;
    let said = leads.iter().find_map(|lead| text.split_once(&**lead).map(|(_, said)| said))?;
    let said = said.split("\n\nNote: ").next().unwrap_or(said).trim();
    let said = said.strip_prefix("<feedback>").unwrap_or(said);
    let said = said.split("</feedback>").next().unwrap_or(said);
    Some(said.trim().to_owned())
}
