//! What came of a call: exit code, size, failure, and the line that says most.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use super::ToolKind;

/// What the result of a call says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code, where one is reported.
    pub exit: Option<i64>,
    /// Lines of the result.
    pub lines: usize,
    /// Whether it reports a failure: an exit code other than 0, or an error where none is given.
    pub error: bool,
    /// The totals of a test run, else the first line of an error; at most 160 characters.
    pub summary: Option<String>,
}

/// Bytes at the start and at the end of a result in which harnesses write about it.
const HEAD: usize = 1_024;
const TAIL: usize = 2_048;

/// Characters of a summary.
const LONGEST: usize = 160;

/// Longest part of a line that is looked at.
const LINE: usize = 240;

/// How a line ends that says so of a command or a file, after at most this many characters.
const MISSING: [&str; 2] = ["command not found", "no such file or directory"];
const BEFORE_MISSING: usize = 120;

/// What a word in a result hints at. Only lines that hold one are read with a regex: most results
/// hold none, and a conversation holds ten thousand results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    Exit,
    Error,
    Totals,
}

const HINTS: &[(&str, Hint)] = &[
    ("returncode", Hint::Exit),
    ("return_code", Hint::Exit),
    ("exit", Hint::Exit),
    (" with code", Hint::Exit),
    (" with status", Hint::Exit),
    ("error", Hint::Error),
    ("exception", Hint::Error),
    ("fatal:", Hint::Error),
    ("panic", Hint::Error),
    ("traceback (most recent", Hint::Error),
    ("permission denied", Hint::Error),
    ("command not found", Hint::Error),
    ("no such file or directory", Hint::Error),
    ("bash: ", Hint::Error),
    ("\"success\"", Hint::Error),
    ("passed", Hint::Totals),
    ("failed", Hint::Totals),
    ("passing", Hint::Totals),
    ("failing", Hint::Totals),
    ("skipped", Hint::Totals),
    ("tests in ", Hint::Totals),
    ("test in ", Hint::Totals),
    ("ok (", Hint::Totals),
    ("ok\t", Hint::Totals),
    ("fail\t", Hint::Totals),
    ("test result: ", Hint::Totals),
    ("could not compile", Hint::Totals),
];

/// The patterns, compiled once: their classes are of ASCII, those of Unicode take long to compile.
/// The table is constant and tests use all of it.
struct Patterns {
    words: AhoCorasick,
    exit: Vec<Regex>,
    error: Regex,
    totals: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let words = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .build(HINTS.iter().map(|(word, _)| word))
        .ok()?;
    let exit = [
        r"<(?:returncode|exit_code|exitcode)>\s*(-?[0-9]{1,10})\s*</",
        r#""(?:exit_code|exitCode|returncode|return_code)"\s*:\s*(-?[0-9]{1,10})(?-u:\b)"#,
        r"(?i)^[^0-9A-Za-z_]{0,4}(?:process |command )?exit(?:ed|s)?(?: with)?[ _-]?(?:exit )?(?:code|status)?\s*[:=]?\s*(-?[0-9]{1,10})(?-u:\b)[^0-9A-Za-z_]{0,3}$",
        r"(?i)(?-u:\b)(?:process|command|script)\s(?:exited|finished|failed|completed)\swith\s(?:exit |return )?(?:code|status):?\s(-?[0-9]{1,10})(?-u:\b)",
        r"(?i)[\[(](?:command |process )?(?:exit|exited|exit code|exit status)(?: with)?(?: code)?:?\s(-?[0-9]{1,10})[\])]",
    ];
    let error = concat!(
        r"(?i)^[^0-9A-Za-z_]{0,8}(?:\[?error(?-u:\b)|fatal:|panic(?:ked)?(?-u:\b)|traceback \(most recent|tool_use_error|",
        r"exception(?-u:\b)|[a-z_.]{0,60}(?:error|exception): |permission denied|bash: )|",
        r#"^\{"(?:error|success"\s*:\s*false)"#,
    );
    let totals = concat!(
        r"^(?:=+ .*(?-u:\b)[0-9]+ (?:passed|failed|errors?|skipped)(?-u:\b).* =+|test result: .*|",
        r"(?:FAILED|OK) ?\(.*\)|Ran [0-9]+ tests? in .*|Tests:\s.*(?-u:\b)(?:passed|failed)(?-u:\b).*|",
        r"\s*[0-9]+ (?:passing|failing)(?-u:\b).*|[0-9]+ (?:passed|failed)(?:, [0-9]+ [0-9A-Za-z_]+)*(?: in .*)?|",
        r"(?:FAIL|ok)\t\S+\t.*|error: could not compile .*)$",
    );
    Some(Patterns {
        words,
        exit: exit.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect(),
        error: Regex::new(error).ok()?,
        totals: Regex::new(totals).ok()?,
    })
});

/// What one window of a result says.
#[derive(Clone, Copy, Default)]
struct Said<'a> {
    exit: Option<i64>,
    error: Option<&'a str>,
    totals: Option<&'a str>,
}

pub(super) fn read(kind: ToolKind, text: &str) -> Outcome {
    let shows = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Web);
    if shows {
        // The text of a file may say anything; only its very first line can be the tool's own.
        let first = text.trim_start().lines().next().unwrap_or_default();
        let error = said(clip(first, 0)).error;
        return Outcome {
            exit: None,
            lines: lines(text),
            error: error.is_some(),
            summary: error.map(shorten),
        };
    }
    let tail_start = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    let tail = said(&text[tail_start..]);
    // A short result is all tail.
    let head = match tail_start {
        0 => Said { totals: None, ..tail },
        _ => said(&text[..text.floor_char_boundary(HEAD.min(tail_start))]),
    };
    let exit = head.exit.or(tail.exit);
    let failure = head.error.or(tail.error);
    let error = exit.map_or(failure.is_some(), |code| code != 0);
    let summary = tail.totals.or(failure.filter(|_| error));
    Outcome { exit, lines: lines(text), error, summary: summary.map(shorten) }
}

/// The first exit code, the first error and the last totals of a window.
fn said(window: &str) -> Said<'_> {
    let mut said = Said::default();
    let Some(patterns) = PATTERNS.as_ref() else { return said };
    for hit in patterns.words.find_iter(window) {
        let Some(&(_, hint)) = HINTS.get(hit.pattern().as_usize()) else { continue };
        let start = window[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
        let line = window[start..].split('\n').next().unwrap_or_default().trim_end();
        match hint {
            Hint::Exit if said.exit.is_none() => {
                // Around the word: a line of JSON can be long.
                let part = clip(line, (hit.start() - start).saturating_sub(64));
                said.exit = patterns
                    .exit
                    .iter()
                    .find_map(|pattern| pattern.captures(part)?.get(1)?.as_str().parse().ok());
            }
            Hint::Error if said.error.is_none() => {
                let part = clip(line, 0);
                said.error = (patterns.error.is_match(part) || is_missing(part)).then_some(part);
            }
            _ => {}
        }
        // A line of totals may begin with another hint: `error: could not compile`.
        if hint != Hint::Exit && patterns.totals.is_match(clip(line, 0)) {
            said.totals = Some(clip(line, 0));
        }
    }
    said
}

/// Whether a line ends by saying that something is not there.
fn is_missing(line: &str) -> bool {
    MISSING.iter().any(|end| {
        let at = line.len().checked_sub(end.len());
        at.and_then(|at| line.split_at_checked(at)).is_some_and(|(before, last)| {
            last.eq_ignore_ascii_case(end) && before.chars().count() <= BEFORE_MISSING
        })
    })
}

/// At most [`LINE`] bytes of a line from `start`, cut at character borders.
fn clip(line: &str, start: usize) -> &str {
    let start = line.floor_char_boundary(start);
    &line[start..line.floor_char_boundary(start + LINE)]
}

fn lines(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn shorten(line: &str) -> String {
    line.trim().chars().take(LONGEST).collect()
}
