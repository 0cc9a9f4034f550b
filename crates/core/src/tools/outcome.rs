//! What came of a call: exit code, size, failure, and the line that says most.

use std::sync::LazyLock;

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

static EXIT: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"<(?:returncode|exit_code|exitcode)>\s*(-?\d{1,10})\s*</",
        r#""(?:exit_code|exitCode|returncode|return_code)"\s*:\s*(-?\d{1,10})\b"#,
        r"(?im)^\W{0,4}(?:process |command )?exit(?:ed|s)?(?: with)?[ _-]?(?:exit )?(?:code|status)?\s*[:=]?\s*(-?\d{1,10})\b\W{0,3}$",
        r"(?i)\b(?:process|command|script)\s(?:exited|finished|failed|completed)\swith\s(?:exit |return )?(?:code|status):?\s(-?\d{1,10})\b",
        r"(?i)[\[(](?:command |process )?(?:exit|exited|exit code|exit status)(?: with)?(?: code)?:?\s(-?\d{1,10})[\])]",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?im)^\W{0,8}(?:\[?error\b|fatal:|panic(?:ked)?\b|traceback \(most recent|tool_use_error|",
        r"exception\b|[a-z_.]{0,60}(?:error|exception): |permission denied|",
        r"bash: |sh: |[^\n]{0,80}(?:command not found|no such file or directory)$)|",
        r#"^\{"(?:error|success"\s*:\s*false)"#,
    ))
    .ok()
});

static TOTALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m)^(?:=+ .*\b\d+ (?:passed|failed|errors?|skipped)\b.* =+|test result: .*|",
        r"(?:FAILED|OK) ?\(.*\)|Ran \d+ tests? in .*|Tests:\s.*\b(?:passed|failed)\b.*|",
        r"\s*\d+ (?:passing|failing)\b.*|\d+ (?:passed|failed)(?:, \d+ \w+)*(?: in .*)?|",
        r"(?:FAIL|ok)\t\S+\t.*|error: could not compile .*)$",
    ))
    .ok()
});

pub(super) fn read(kind: ToolKind, text: &str) -> Outcome {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..];
    let shows = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Web);
    let exit = if shows { None } else { exit_code(head).or_else(|| exit_code(tail)) };
    let failure = first_error(head, tail, shows);
    let error = exit.map_or(failure.is_some(), |code| code != 0);
    let totals = || TOTALS.as_ref()?.find_iter(tail).last().map(|line| line.as_str());
    let summary = if shows { None } else { totals() }.or(failure.filter(|_| error));
    Outcome { exit, lines: lines(text), error, summary: summary.map(shorten) }
}

fn exit_code(text: &str) -> Option<i64> {
    EXIT.iter().find_map(|pattern| pattern.captures(text)?.get(1)?.as_str().parse().ok())
}

/// The first line that reports an error. Of what was read or found only the very first line
/// counts: the rest is the file's own text.
fn first_error<'a>(head: &'a str, tail: &'a str, shows: bool) -> Option<&'a str> {
    let pattern = ERROR.as_ref()?;
    let line_at = |text: &'a str, at: usize| text[at..].trim_start().lines().next();
    if shows {
        let first = head.trim_start().lines().next().unwrap_or_default();
        return pattern.is_match(first).then_some(first);
    }
    let find = |text: &'a str| pattern.find(text).and_then(|found| line_at(text, found.start()));
    find(head).or_else(|| find(tail))
}

fn lines(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn shorten(line: &str) -> String {
    line.trim().chars().take(LONGEST).collect()
}
