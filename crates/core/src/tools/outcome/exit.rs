//! Finds the exit code that a harness reports at the start or the end of a result.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::lines::{self, ResultWindows};

/// How many lines at the start of a result may report the exit code.
const FIRST: usize = 6;
/// How many lines at the end of a result may report the exit code.
const LAST: usize = 8;

/// A line that reports an exit code holds one of these words.
const WORDS: [&str; 3] = ["exit", "code", "status"];

/// The patterns, compiled once. Their classes are ASCII, because Unicode classes take long to compile.
struct ExitPatterns {
    /// Finds [`WORDS`], because a line without them needs no regex.
    words: AhoCorasick,
    /// Regexes for one line; their first group is the exit code.
    lines: Vec<Regex>,
    /// A member of a JSON result with the exit code.
    json: Regex,
}

static PATTERNS: LazyLock<Option<ExitPatterns>> = LazyLock::new(|| {
    let lines = [
        r"<(?:returncode|exit_code|exitcode)>\s*(-?[0-9]{1,10})\s*</",
        r"(?i)^[^0-9A-Za-z_]{0,4}(?:process |command )?exit(?:ed|s)?(?: with)?[ _-]?(?:exit )?(?:code|status)?\s*[:=]?\s*(-?[0-9]{1,10})(?-u:\b)[^0-9A-Za-z_]{0,3}$",
        r"(?i)(?-u:\b)(?:process|command|script)\s(?:exited|finished|failed|completed)\swith\s(?:exit |return )?(?:code|status):?\s(-?[0-9]{1,10})(?-u:\b)",
        r"(?i)[\[(](?:command |process )?(?:exit|exited|exit code|exit status)(?: with)?(?: code)?:?\s(-?[0-9]{1,10})[\])]",
        r"(?i)^command executed .{0,200}exit code: (-?[0-9]{1,10})(?-u:\b)",
    ];
    let json = r#""(?:exit_code|exitCode|returncode|return_code)"\s*:\s*(-?[0-9]{1,10})(?-u:\b)"#;
    Some(ExitPatterns {
        words: AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).ok()?,
        lines: lines.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect(),
        json: Regex::new(json).ok()?,
    })
});

/// The exit code that the harness reports; `None` where it reports none.
pub(super) fn code(windows: &ResultWindows<'_>) -> Option<i64> {
    let patterns = PATTERNS.as_ref()?;
    let read = |line: &str| {
        let line = lines::clip(line.trim_end());
        let maybe = patterns.words.is_match(line);
        let captures = |pattern: &Regex| pattern.captures(line)?.get(1)?.as_str().parse().ok();
        maybe.then(|| patterns.lines.iter().find_map(captures)).flatten()
    };
    let full = |line: &&str| !line.trim().is_empty();
    let head = windows.head.lines().filter(full).take(FIRST).find_map(read);
    head.or_else(|| windows.tail.lines().rev().filter(full).take(LAST).find_map(read))
}

/// The exit code in a JSON result; of several, the last that is not 0. `None` where it has none.
pub(super) fn in_json(text: &str) -> Option<i64> {
    let found = PATTERNS.as_ref()?.json.captures_iter(text);
    let codes = found.filter_map(|found| found.get(1)?.as_str().parse().ok());
    let codes: Vec<i64> = codes.collect();
    codes.iter().rev().find(|code| **code != 0).or(codes.last()).copied()
}

/// The exit code that the command itself printed last, as in `…; echo "exit: $?"`.
pub(super) fn asked(windows: &ResultWindows<'_>) -> Option<i64> {
    let line = lines::lines(windows.tail).rev().find(|line| lines::says(line))?;
    let word = line.rsplit([' ', '=', ':', '(', '[']).next()?;
    word.trim_end_matches([')', ']', '.', '=', '-']).parse().ok()
}
