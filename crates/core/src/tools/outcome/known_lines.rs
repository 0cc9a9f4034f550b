//! The lines by which known tools say how they ended, read from `data/outcomes.toml`.
//!
//! A conversation may have ten thousand results, and most of their lines match no pattern. So one search finds the
//! lines that hold a fixed text of some pattern, and only these are matched.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::glob::LineGlob;
use super::lines::{self, ResultWindows, raised};
use super::missing::MissingProgram;
use super::proof::ResultProof;
use super::refusal::{RefusalTable, RefusalTexts};
use super::signs::{OutcomeSign, OutcomeSigns};
use super::totals::totals;
use super::verdict::CallVerdict;
use crate::text_finder::{LetterCase, TextFinder};

/// The content of `data/outcomes.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeFile {
    lines: Vec<LinePatterns>,
    shows: ShowPatterns,
    /// Messages of all tools that run no command.
    tools: OwnPatterns,
    /// Messages of tools that change files.
    edits: OwnPatterns,
    /// Remarks of harnesses about the output.
    noise: NoisePatterns,
    /// Messages that the program to run does not exist.
    absent: NoisePatterns,
    /// Messages that the command keeps running after its result.
    background: NoisePatterns,
    over: NoisePatterns,
    /// Messages at the end of a result that something keeps running.
    left: NoisePatterns,
    /// Messages of a shell that it could not read the command.
    unread: NoisePatterns,
    /// Lines that say nothing about a failure.
    idle: NoisePatterns,
    missing: MissingProgram,
    refusals: Vec<RefusalTexts>,
}

/// Patterns for the output lines of one group of tools.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct LinePatterns {
    /// The names of the tools.
    of: String,
    /// Totals with failures, which no exit code disproves.
    failed: Vec<String>,
    /// Totals without failures.
    passed: Vec<String>,
    /// Lines that prove that the work ended badly.
    broken: Vec<String>,
    /// Signs of failure, which an exit code 0 of the command itself disproves.
    errors: Vec<String>,
    /// Signs of success, which any failure disproves.
    done: Vec<String>,
    /// Lines that look like a failure and are none.
    harmless: Vec<String>,
    /// Lines that say why something failed, the most telling first.
    causes: Vec<String>,
    /// Lines that say only that something inside failed.
    wraps: Vec<String>,
    /// The start of a line; the patterns count only shortly below such a line.
    after: Option<String>,
    /// Whether the patterns count only at the end of the output.
    last: bool,
    /// Whether the tools run tests. Their totals show that a check ran, whatever the command is called.
    runner: bool,
}

/// Error messages of programs that show content.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowPatterns {
    /// Texts in a line `NAME: …`, where the command runs the program NAME.
    complaints: Vec<String>,
    /// Patterns of lines, whatever the command runs.
    errors: Vec<String>,
}

/// Messages of tools that run no command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPatterns {
    /// Error messages.
    errors: Vec<String>,
    /// Messages of success.
    #[serde(default)]
    done: Vec<String>,
}

/// Patterns for lines of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoisePatterns {
    lines: Vec<String>,
}

/// A pattern with the sign that a matching line is.
struct MarkPattern {
    glob: LineGlob,
    sign: OutcomeSign,
    /// The names of the tools that write the line.
    of: &'static str,
    after: Option<String>,
    last: bool,
    runner: bool,
}

/// The tools that write totals of errors alone.
const CHECKERS: &str = "tsc mypy ruff biome pyright gcc clang javac eslint golangci-lint rubocop";

/// A sign of success counts for the whole output only within this many lines of its end.
const NEAR: usize = 20;

/// One search for the texts that patterns need, so that a line is only matched with patterns whose text it holds.
struct PieceSearch {
    pieces: TextFinder,
    /// For each searched text, the indices of the patterns that need it.
    by_piece: Vec<Vec<usize>>,
}

impl PieceSearch {
    /// The search for the texts of these patterns.
    fn new<'g>(globs: impl Iterator<Item = &'g LineGlob>) -> Self {
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut by_piece: Vec<Vec<usize>> = Vec::new();
        let mut pieces = Vec::new();
        for (at, glob) in globs.enumerate() {
            // Patterns that need the same text share one search for it.
            let number = *numbers.entry(glob.needs()).or_insert_with_key(|piece| {
                pieces.push(*piece);
                by_piece.push(Vec::new());
                by_piece.len() - 1
            });
            by_piece[number].push(at);
        }
        Self { pieces: TextFinder::new(LetterCase::Exact, pieces), by_piece }
    }

    /// Where a needed text begins, and the indices of the patterns that need it.
    fn hits<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, &'a [usize])> {
        let hits = self.pieces.find(text);
        hits.filter_map(|hit| Some((hit.at.start, &**self.by_piece.get(hit.text)?)))
    }
}

/// The patterns of the file, compiled.
pub(super) struct KnownOutcomes {
    marks: Vec<MarkPattern>,
    /// Finds the lines that some mark may match.
    may_mark: PieceSearch,
    complaints: Vec<String>,
    /// Error messages of programs that show content.
    shown: Vec<LineGlob>,
    tool_errors: Vec<LineGlob>,
    edit_errors: Vec<LineGlob>,
    edit_done: Vec<LineGlob>,
    noise: Vec<LineGlob>,
    absent: Vec<LineGlob>,
    background: Vec<LineGlob>,
    /// Say that a command which kept running has ended.
    over: Vec<LineGlob>,
    left: Vec<LineGlob>,
    unread: Vec<LineGlob>,
    /// Patterns of lines that say why something failed, each with its rank in the list of its tool.
    causes: Vec<(usize, LineGlob)>,
    /// Finds the patterns of `causes` that a line may match.
    may_tell: PieceSearch,
    wraps: Vec<LineGlob>,
    idle: Vec<LineGlob>,
    /// The names of the tools that run tests.
    runners: &'static str,
    pub(super) missing: MissingProgram,
    refusals: RefusalTable,
}

/// The table; `None` only if the file is broken. It is compiled in and tests read it.
pub(super) fn table() -> Option<&'static KnownOutcomes> {
    static TABLE: LazyLock<Option<KnownOutcomes>> = LazyLock::new(|| {
        let file = toml::from_str(include_str!("../../../data/outcomes.toml")).ok()?;
        Some(KnownOutcomes::new(file))
    });
    TABLE.as_ref()
}

fn globs(patterns: &[String]) -> Vec<LineGlob> {
    patterns.iter().map(|pattern| LineGlob::new(pattern)).collect()
}

fn any(globs: &[LineGlob], line: &str) -> bool {
    globs.iter().any(|glob| glob.matches(line))
}

impl KnownOutcomes {
    /// Compiles the patterns of the file.
    fn new(file: OutcomeFile) -> Self {
        let mut marks = Vec::new();
        let (mut causes, mut wraps) = (Vec::new(), Vec::new());
        let runners = file.lines.iter().filter(|lines| lines.runner).map(|lines| &*lines.of);
        // Leaking is harmless, because the table lives as long as the program.
        let runners: &'static str = runners.collect::<Vec<_>>().join(" ").leak();
        for lines in file.lines {
            causes.extend(lines.causes.iter().map(|cause| LineGlob::new(cause)).enumerate());
            wraps.extend(globs(&lines.wraps));
            let of: &'static str = lines.of.clone().leak();
            let lists = [
                (OutcomeSign::Harmless, &lines.harmless),
                (OutcomeSign::Failed, &lines.failed),
                (OutcomeSign::Broken, &lines.broken),
                (OutcomeSign::Passed, &lines.passed),
                (OutcomeSign::Error, &lines.errors),
                (OutcomeSign::Done, &lines.done),
            ];
            for (sign, patterns) in lists {
                marks.extend(patterns.iter().map(|pattern| MarkPattern {
                    glob: LineGlob::new(pattern),
                    sign,
                    of,
                    after: lines.after.clone(),
                    last: lines.last,
                    runner: lines.runner,
                }));
            }
        }
        let may_mark = PieceSearch::new(marks.iter().map(|mark: &MarkPattern| &mark.glob));
        let may_tell = PieceSearch::new(causes.iter().map(|(_, glob)| glob));
        Self {
            marks,
            may_mark,
            complaints: file.shows.complaints,
            shown: globs(&file.shows.errors),
            tool_errors: globs(&file.tools.errors),
            edit_errors: globs(&file.edits.errors),
            edit_done: globs(&file.edits.done),
            noise: globs(&file.noise.lines),
            absent: globs(&file.absent.lines),
            background: globs(&file.background.lines),
            over: globs(&file.over.lines),
            left: globs(&file.left.lines),
            unread: globs(&file.unread.lines),
            causes,
            may_tell,
            wraps,
            idle: globs(&file.idle.lines),
            runners,
            missing: file.missing,
            refusals: RefusalTable::new(file.refusals),
        }
    }

    /// The signs in the output of a command that does some work. Lines that the command itself echoes are none.
    pub(super) fn signs(&self, windows: &ResultWindows<'_>, echoes: &[String]) -> OutcomeSigns {
        let mut signs = OutcomeSigns::default();
        for (from, window) in windows.parts() {
            let mut marked = self.totals(window, echoes, &mut signs);
            for (at, marks) in self.may_mark.hits(window) {
                let start = memchr::memrchr(b'\n', &window.as_bytes()[..at]).map_or(0, |at| at + 1);
                let line = lines::clean(line_at(window, start));
                let marks = marks.iter().filter_map(|&mark| self.marks.get(mark));
                let applies = |mark: &&MarkPattern| {
                    mark.glob.matches(&line)
                        && !echoes.iter().any(|echo| *echo == line)
                        && !self.is_noise(&line)
                        && mark.after.as_ref().is_none_or(|after| is_below(window, start, after))
                        && (!mark.last || self.is_last(window, start))
                };
                for mark in marks.filter(applies) {
                    signs.of_runner |= mark.runner
                        && matches!(mark.sign, OutcomeSign::Failed | OutcomeSign::Passed);
                    marked.push((start, mark.sign, mark.of));
                }
            }
            // A step that was done long before the end does not prove that the whole command succeeded.
            let near = window.len()
                - window
                    .rsplit('\n')
                    .take(NEAR)
                    .map(|l| l.len() + 1)
                    .sum::<usize>()
                    .min(window.len());
            marked.retain(|&(start, sign, _)| {
                sign != OutcomeSign::Done || from == windows.from && start >= near
            });
            marked.sort_unstable();
            // Of several signs in one line, only the strongest counts.
            marked.dedup_by_key(|(start, ..)| *start);
            for (start, sign, of) in marked {
                let raised = raised(window, start);
                let line = lines::clean(raised.unwrap_or_else(|| line_at(window, start)));
                signs.add(sign, of, from + start, &line, any(&self.wraps, &line));
            }
        }
        signs
    }

    /// The totals in a window, by the byte at which their lines start.
    fn totals(
        &self,
        window: &str,
        echoes: &[String],
        signs: &mut OutcomeSigns,
    ) -> Vec<(usize, OutcomeSign, &'static str)> {
        let mut marked = Vec::new();
        let mut start = 0;
        for raw in window.split_inclusive('\n') {
            let line = lines::clean(raw);
            if let Some(totals) = totals(&line).filter(|_| !echoes.iter().any(|own| *own == line)) {
                signs.of_runner |= totals.of_tests;
                let sign = match (totals.failed, totals.faulty) {
                    (true, _) => OutcomeSign::Failed,
                    (false, true) => OutcomeSign::Error,
                    (false, false) => OutcomeSign::Passed,
                };
                marked.push((start, sign, if totals.of_tests { self.runners } else { CHECKERS }));
            }
            start += raw.len();
        }
        marked
    }

    /// Whether only lines of the harness follow.
    fn is_last(&self, window: &str, start: usize) -> bool {
        let rest = window[start..].split_once('\n').map_or("", |(_, rest)| rest);
        lines::lines(rest).all(|line| !lines::says(&line) || self.is_noise(&line))
    }

    /// The signs in the output of a command that only shows content. Such content proves nothing, so only error
    /// messages of the programs themselves count.
    pub(super) fn complaints(
        &self,
        windows: &ResultWindows<'_>,
        proof: &ResultProof,
    ) -> OutcomeSigns {
        let mut signs = OutcomeSigns::default();
        for (from, window) in windows.parts() {
            let mut at = from;
            for raw in window.split_inclusive('\n') {
                let line = lines::clean(raw);
                // `find` goes on past folders that it may not read, and `grep` past binary files: these are no
                // failures.
                let named = proof.programs.iter().any(|program| {
                    let rest = line.strip_prefix(&**program).and_then(|r| r.strip_prefix(": "));
                    rest.is_some_and(|rest| {
                        self.complaints.iter().any(|word| rest.contains(&**word))
                    }) && !(program == "find" && line.ends_with("Permission denied"))
                        && !line.contains("binary file matches")
                });
                if named || any(&self.shown, &line) {
                    signs.add(OutcomeSign::Error, "", at, &line, false);
                }
                at += raw.len();
            }
        }
        signs
    }

    /// Whether the line is an error message of a tool that runs no command.
    pub(super) fn tool_error(&self, line: &str, changes: bool) -> bool {
        any(&self.tool_errors, line) || (changes && any(&self.edit_errors, line))
    }

    /// Whether the line says that a file was changed.
    pub(super) fn edit_done(&self, line: &str) -> bool {
        any(&self.edit_done, line)
    }

    /// Whether the line is a harness's remark about the output.
    pub(super) fn is_noise(&self, line: &str) -> bool {
        any(&self.noise, line)
    }

    /// How much a line says about why something failed: the lowest rank of a pattern that it matches. `None` where it
    /// matches none.
    pub(super) fn cause_rank(&self, line: &str) -> Option<usize> {
        let causes = self.may_tell.hits(line).flat_map(|(_, causes)| causes);
        let causes = causes.filter_map(|&cause| self.causes.get(cause));
        causes.filter(|(_, glob)| glob.matches(line)).map(|(rank, _)| *rank).min()
    }

    /// Whether the line says nothing about the cause of a failure.
    pub(super) fn is_idle(&self, line: &str) -> bool {
        any(&self.idle, line)
    }

    /// Whether the line says only that something inside failed.
    pub(super) fn wraps(&self, line: &str) -> bool {
        any(&self.wraps, line)
    }

    /// Whether the line is one that a tool writes on success.
    pub(super) fn says_well(&self, line: &str) -> bool {
        let signs = self.signs(&ResultWindows::of(line), &[]);
        matches!(line.trim_end_matches('.'), "ok" | "OK" | "Done" | "done" | "PASS")
            || signs.good() && !signs.bad()
    }

    /// Whether a shell or an interpreter says that the program or file to run does not exist.
    pub(super) fn is_absent(&self, windows: &ResultWindows<'_>, telling: &str) -> bool {
        let mut last = lines::lines(windows.tail).rev().filter(|line| lines::says(line));
        any(&self.absent, telling) || last.by_ref().take(3).any(|line| any(&self.absent, &line))
    }

    /// The line in which the result says that the command keeps running; `None` where it does not. It is among the
    /// first or the last lines.
    pub(super) fn goes_on<'a>(&self, windows: &ResultWindows<'a>) -> Option<Cow<'a, str>> {
        let mut first = lines::lines(windows.head).filter(|line| lines::says(line)).take(3);
        let mut last = lines::lines(windows.tail).rev().filter(|line| lines::says(line)).take(3);
        first
            .find(|line| any(&self.background, line))
            .or_else(|| last.find(|line| any(&self.left, line)))
    }

    /// Whether the client says that a command which kept running has ended.
    pub(super) fn is_over(&self, windows: &ResultWindows<'_>) -> bool {
        let mut first = lines::lines(windows.head).filter(|line| lines::says(line)).take(3);
        first.any(|line| any(&self.over, &line))
    }

    /// Whether the shell could not read the command, so that nothing of it ran.
    pub(super) fn is_unread(&self, windows: &ResultWindows<'_>) -> bool {
        let mut lines = lines::lines(windows.head);
        let first = lines.find(|line| lines::says(line) && !self.is_noise(line));
        first.is_some_and(|line| any(&self.unread, &line))
    }

    /// The line that says most where no sign was found. For a failure, it is the first line that speaks of one;
    /// otherwise the last line.
    pub(super) fn telling(
        &self,
        windows: &ResultWindows<'_>,
        verdict: Option<CallVerdict>,
    ) -> Option<String> {
        const WORDS: [&str; 6] = ["rror", "ailed", "ailure", "FAIL", "ERROR", "annot "];
        let speaks = |line: &str| WORDS.iter().any(|word| line.contains(word));
        if verdict == Some(CallVerdict::Failed) {
            let mut lines = windows.parts().flat_map(|(_, window)| lines::lines(window));
            let tells = |l: &str| lines::says(l) && !self.is_noise(l) && !self.is_idle(l);
            let most_telling = lines.find(|line| speaks(line) && tells(line));
            if let Some(line) = most_telling {
                return Some(lines::telling(&line));
            }
        }
        self.last_line(windows)
    }

    /// The first line that says something, and is no remark of the harness.
    pub(super) fn first_line(&self, windows: &ResultWindows<'_>) -> Option<String> {
        let mut lines = lines::lines(windows.head);
        let line = lines.find(|line| lines::says(line) && !self.is_noise(line))?;
        Some(lines::telling(&line))
    }

    /// Whether the text holds words after which clients quote the user's reason.
    pub(super) fn may_hold_reason(&self, text: &str) -> bool {
        self.refusals.may_hold_reason(text)
    }

    /// The refusal or interruption of the call; `None` where the call ran to its end.
    pub(super) fn refusal(
        &self,
        windows: &ResultWindows<'_>,
        flagged: Option<bool>,
    ) -> Option<super::refusal::RefusedCall> {
        self.refusals.of(windows, flagged, |line| self.is_noise(line))
    }

    /// The last line that says something, and is no remark of the harness.
    pub(super) fn last_line(&self, windows: &ResultWindows<'_>) -> Option<String> {
        let mut lines = lines::lines(windows.tail).rev();
        let tells = |l: &str| {
            lines::says(l) && !self.is_noise(l) && !self.is_idle(l) && !self.refusals.ends(l)
        };
        let line = lines.find(|line| tells(line))?;
        Some(lines::telling(&line))
    }
}

/// The line that starts at byte `start`.
fn line_at(window: &str, start: usize) -> &str {
    window[start..].split('\n').next().unwrap_or_default()
}

/// Whether one of the six lines above begins with this text.
fn is_below(window: &str, start: usize, begin: &str) -> bool {
    window[..start].lines().rev().take(6).any(|line| line.trim_start().starts_with(begin))
}
