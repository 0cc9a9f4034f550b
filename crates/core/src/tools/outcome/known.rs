//! The lines by which known tools say how they ended, read from `data/outcomes.toml`.
//!
//! One search finds the lines that hold a piece of a pattern; only those are matched. Most lines
//! hold none, and a conversation holds ten thousand results.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::glob::Glob;
use super::lines::{self, Windows, raised};
use super::missing::Missing;
use super::proof::Proof;
use super::refusal::{Refusal, Refusals};
use super::signs::{Sign, Signs};
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
    idle: Noise,
    missing: Missing,
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
    causes: Vec<String>,
    wraps: Vec<String>,
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
    /// Why something failed, each with its place in the list of its tool.
    pub(super) causes: Vec<(usize, Glob)>,
    wraps: Vec<Glob>,
    idle: Vec<Glob>,
    pub(super) missing: Missing,
    refusals: Refusals,
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

impl Known {
    fn new(file: File) -> Option<Self> {
        let mut marks = Vec::new();
        let (mut causes, mut wraps) = (Vec::new(), Vec::new());
        for lines in file.lines {
            causes.extend(lines.causes.iter().map(|cause| Glob::new(cause)).enumerate());
            wraps.extend(globs(&lines.wraps));
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
            causes,
            wraps,
            idle: globs(&file.idle.lines),
            missing: file.missing,
            refusals: Refusals::new(file.refusals),
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
                signs.add(sign, of, from + start, &line, any(&self.wraps, &line));
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
                    signs.add(Sign::Error, "", at, &line, false);
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

    /// Whether the line says nothing of why something failed.
    pub(super) fn is_idle(&self, line: &str) -> bool {
        any(&self.idle, line)
    }

    /// Whether the line says only that something inside failed.
    pub(super) fn wraps(&self, line: &str) -> bool {
        any(&self.wraps, line)
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

    /// The line in which the result says that the command goes on behind it.
    pub(super) fn goes_on<'a>(&self, windows: &Windows<'a>) -> Option<Cow<'a, str>> {
        let mut first = lines::lines(windows.head).filter(|line| lines::says(line));
        first.by_ref().take(3).find(|line| any(&self.background, line))
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
            let tells = |l: &str| lines::says(l) && !self.is_noise(l) && !self.is_idle(l);
            let found = lines.find(|line| speaks(line) && tells(line));
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

    /// Whether words stand in a text that lead to the user's.
    pub(super) fn may_hold_reason(&self, text: &str) -> bool {
        self.refusals.may_hold_reason(text)
    }

    /// Whether the call was forbidden or stopped.
    pub(super) fn refusal(
        &self,
        windows: &Windows<'_>,
        flagged: Option<bool>,
    ) -> Option<super::refusal::Refused> {
        self.refusals.of(windows, flagged, |line| self.is_noise(line))
    }

    /// The last line that says something.
    pub(super) fn last_line(&self, windows: &Windows<'_>) -> Option<String> {
        let mut lines = lines::lines(windows.tail).rev();
        let tells = |l: &str| lines::says(l) && !self.is_noise(l) && !self.refusals.ends(l);
        let line = lines.find(|line| tells(line))?;
        Some(lines::telling(&line))
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
