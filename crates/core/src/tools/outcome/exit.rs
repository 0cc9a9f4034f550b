//! Finds the exit code that a harness reports at the start or the end of a result.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::lines::{self, ResultWindows};
use crate::text_finder::{LetterCase, TextFinder};

/// How many lines at the start of a result may report the exit code.
const FIRST: usize = 6;
/// How many lines at the end of a result may report the exit code.
const LAST: usize = 8;

/// A line that reports an exit code holds one of these words.
const WORDS: [&str; 3] = ["exit", "code", "status"];

/// Finds [`WORDS`], because most lines have none.
static FINDER: LazyLock<TextFinder> = LazyLock::new(|| TextFinder::new(LetterCase::Any, WORDS));

/// A regex whose first group is the exit code. Its classes are ASCII, because Unicode classes take long to compile.
struct CodePattern {
    /// Whether the regex may match a line, which is given in lower case. Most regexes are thus never compiled.
    may_match: fn(&str) -> bool,
    pattern: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl CodePattern {
    const fn new(may_match: fn(&str) -> bool, pattern: &'static str) -> Self {
        Self { may_match, pattern, regex: OnceLock::new() }
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(self.pattern).ok()).as_ref()
    }

    /// The exit code in a line. `lower` is the line in lower case.
    fn code(&self, line: &str, lower: &str) -> Option<i64> {
        let regex = self.regex.get().is_some() || (self.may_match)(lower);
        regex.then(|| self.regex()?.captures(line)?.get(1)?.as_str().parse().ok()).flatten()
    }
}

/// The forms of a line with an exit code.
static LINES: [CodePattern; 5] = [
    CodePattern::new(
        |line| line.contains("code>"),
        r"<(?:returncode|exit_code|exitcode)>\s*(-?[0-9]{1,10})\s*</",
    ),
    CodePattern::new(
        |line| {
            let line = line.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            ["exit", "process exit", "command exit"].iter().any(|start| line.starts_with(start))
        },
        r"(?i)^[^0-9A-Za-z_]{0,4}(?:process |command )?exit(?:ed|s)?(?: with)?[ _-]?(?:exit )?(?:code|status)?\s*[:=]?\s*(-?[0-9]{1,10})(?-u:\b)[^0-9A-Za-z_]{0,3}$",
    ),
    CodePattern::new(
        |line| ["process", "command", "script"].iter().any(|program| line.contains(program)),
        r"(?i)(?-u:\b)(?:process|command|script)\s(?:exited|finished|failed|completed)\swith\s(?:exit |return )?(?:code|status):?\s(-?[0-9]{1,10})(?-u:\b)",
    ),
    CodePattern::new(
        |line| line.contains(['[', '(']),
        r"(?i)[\[(](?:command |process )?(?:exit|exited|exit code|exit status)(?: with)?(?: code)?:?\s(-?[0-9]{1,10})[\])]",
    ),
    CodePattern::new(
        |line| line.starts_with("command executed "),
        r"(?i)^command executed .{0,200}exit code: (-?[0-9]{1,10})(?-u:\b)",
    ),
];

/// A member of a JSON result with the exit code.
static JSON: CodePattern = CodePattern::new(
    |_| true,
    r#""(?:exit_code|exitCode|returncode|return_code)"\s*:\s*(-?[0-9]{1,10})(?-u:\b)"#,
);

/// The exit code that the harness reports; `None` where it reports none.
pub(super) fn code(windows: &ResultWindows<'_>) -> Option<i64> {
    let read = |line: &str| {
        let line = lines::clip(line.trim_end());
        FINDER.find(line).next()?;
        let lower = line.to_ascii_lowercase();
        LINES.iter().find_map(|pattern| pattern.code(line, &lower))
    };
    let full = |line: &&str| !line.trim().is_empty();
    let head = windows.head.lines().filter(full).take(FIRST).find_map(read);
    head.or_else(|| windows.tail.lines().rev().filter(full).take(LAST).find_map(read))
}

/// The exit code in a JSON result; of several, the last that is not 0. `None` where it has none.
pub(super) fn in_json(text: &str) -> Option<i64> {
    let captures = JSON.regex()?.captures_iter(text);
    let codes = captures.filter_map(|captures| captures.get(1)?.as_str().parse().ok());
    let codes: Vec<i64> = codes.collect();
    codes.iter().rev().find(|code| **code != 0).or(codes.last()).copied()
}

/// The exit code that the command itself printed last, as in `…; echo "exit: $?"`.
pub(super) fn printed(windows: &ResultWindows<'_>) -> Option<i64> {
    let line = lines::lines(windows.tail).rev().find(|line| lines::says(line))?;
    let word = line.rsplit([' ', '=', ':', '(', '[']).next()?;
    word.trim_end_matches([')', ']', '.', '=', '-']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(LINES.iter().chain([&JSON]).all(|pattern| pattern.regex().is_some()));
    }

    #[test]
    fn no_pattern_is_passed_over() {
        for (line, wanted) in [
            ("<returncode>1</returncode>", 1),
            ("<exit_code> 2 </exit_code>", 2),
            ("Exit code 3", 3),
            ("[exited with code: 4]", 4),
            ("> Process exited with code -5.", -5),
            ("the Script finished with exit code 6 in 2 s", 6),
            ("failed (Exit Status: 7)", 7),
            ("Command executed in 3 s, exit code: 8 again", 8),
        ] {
            assert_eq!(code(&ResultWindows::of(line)), Some(wanted), "{line}");
        }
        assert_eq!(code(&ResultWindows::of("the code exits at 3, status ok")), None);
        assert_eq!(in_json(r#"{"output": "", "exit_code": 9}"#), Some(9));
    }
}
