//! Reads the totals of a runner: numbers beside words such as `passed` and `failed`, in any order. So
//! `10 passed, 1 warning, 2 errors in 0.3s`, `Tests: 1 failed | 4 passed (5)` and `FAILED (failures=1)` need no
//! pattern of their own.

/// Longest line that may hold totals, in bytes.
const LONGEST: usize = 200;

/// What the totals of a run say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunTotals {
    /// Whether something failed, or an error came.
    pub failed: bool,
    /// Whether a linter found faults.
    pub faulty: bool,
    /// Whether the words are those of a test runner. Compilers count errors alone.
    pub of_tests: bool,
    /// How many passed.
    pub passed: u64,
}

/// What a word in totals counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedWord {
    Passed,
    Failed,
    Error,
    Fault,
    /// It counts nothing that decides, or joins the others.
    Beside,
}

/// A part of a segment of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TotalsToken {
    Number(u64),
    /// A word, and whether its number follows, as in `Failures: 1`.
    Word(CountedWord, bool),
}

/// The totals in a line, also behind the name of a task (`[test:unit] 3 passed`). `None` where it is another line.
pub(super) fn totals(line: &str) -> Option<RunTotals> {
    if line.len() > LONGEST || !line.bytes().any(|b| b.is_ascii_digit()) && !line.contains("no ") {
        return None;
    }
    read(line).or_else(|| read(unlabelled(line)?))
}

/// The line behind the name of a task, as runners of several tasks write it in front.
fn unlabelled(line: &str) -> Option<&str> {
    let (label, rest) = line.split_once(' ')?;
    let inner = label.strip_suffix(':').unwrap_or_default();
    let is_label = label.starts_with('[') && label.ends_with(']') || inner.contains(':');
    is_label.then_some(rest).or_else(|| rest.trim_start().strip_prefix("| "))
}

/// The totals in a whole line. A single unknown word makes it another line, because prose counts errors, too.
fn read(line: &str) -> Option<RunTotals> {
    let mut run_totals = RunTotals::default();
    let mut counts = false;
    let mut some = false;
    for segment in line.split([',', ';', '|', '(', ')', '[', ']', '•', '·']) {
        let tokens = tokens(segment)?;
        // A verdict of a test runner may stand without a number, as in `FAILED (errors=1)`.
        let fails =
            |token: &TotalsToken| matches!(token, TotalsToken::Word(CountedWord::Failed, _));
        run_totals.of_tests |= tokens.iter().any(fails);
        for (number, word) in counted(&tokens) {
            counts |= word != CountedWord::Beside;
            let above = number > 0;
            match word {
                CountedWord::Failed => run_totals.failed |= above,
                CountedWord::Error => run_totals.failed |= above,
                CountedWord::Fault => run_totals.faulty |= above,
                CountedWord::Passed => run_totals.passed += number,
                CountedWord::Beside => {}
            }
            some |= above || word != CountedWord::Passed;
            run_totals.of_tests |= matches!(word, CountedWord::Failed | CountedWord::Passed);
        }
    }
    // `0 passed` alone proves neither.
    (counts && some).then_some(run_totals)
}

/// The tokens of a segment; `None` where a word is unknown.
fn tokens(segment: &str) -> Option<Vec<TotalsToken>> {
    let mut out = Vec::new();
    for raw in segment.split_inclusive([' ', '\t', '=', ':']) {
        let token = raw.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '%');
        if token.is_empty() {
            continue;
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = token.trim_end_matches('%').replace(',', "");
            match digits.parse() {
                Ok(number) => out.push(TotalsToken::Number(number)),
                // A duration such as `0.12s` or `1m23s` counts nothing.
                Err(_) if token.bytes().all(|b| b.is_ascii_digit() || b".hmsun".contains(&b)) => {}
                Err(_) => return None,
            }
        } else if token.eq_ignore_ascii_case("no") {
            out.push(TotalsToken::Number(0));
        } else {
            let names = raw.ends_with(['=', ':']);
            out.push(TotalsToken::Word(word(&token.to_ascii_lowercase())?, names));
        }
    }
    Some(out)
}

/// Each number with the word that it counts: the one in front that names it, or else the next one that decides, or
/// else the one in front.
fn counted(tokens: &[TotalsToken]) -> Vec<(u64, CountedWord)> {
    let mut out = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TotalsToken::Number(number) = *token else { continue };
        let mut behind = tokens[at + 1..].iter().map_while(|token| match token {
            TotalsToken::Word(word, _) => Some(*word),
            TotalsToken::Number(_) => None,
        });
        let next = behind.find(|word| *word != CountedWord::Beside);
        let (before, names) = match at.checked_sub(1).map(|at| tokens[at]) {
            Some(TotalsToken::Word(word, names)) => (Some(word), names),
            _ => (None, false),
        };
        let named = before.filter(|word| names && *word != CountedWord::Beside);
        out.extend(named.or(next).or(before).map(|word| (number, word)));
    }
    out
}

/// What a word in lower case counts; `None` for a word that totals never hold.
fn word(word: &str) -> Option<CountedWord> {
    Some(match word {
        "passed" | "pass" | "passes" | "passing" | "ok" | "successes" | "successful"
        | "succeeded" => CountedWord::Passed,
        "failed" | "fail" | "fails" | "failing" | "failure" | "failures" | "unexpected"
        | "crashed" | "broken" => CountedWord::Failed,
        "error" | "errors" | "errored" => CountedWord::Error,
        "issue" | "issues" | "offense" | "offenses" | "offence" | "offences" | "violation"
        | "violations" => CountedWord::Fault,
        "test" | "tests" | "suite" | "suites" | "file" | "files" | "spec" | "specs" | "example"
        | "examples" | "run" | "runs" | "ran" | "assertion" | "assertions" | "check" | "checks"
        | "case" | "cases" | "step" | "steps" | "scenario" | "scenarios" | "feature"
        | "features" | "doctest" | "doctests" | "property" | "properties" | "subtest"
        | "subtests" | "snapshot" | "snapshots" | "module" | "modules" | "package" | "packages"
        | "target" | "targets" | "task" | "tasks" | "source" | "total" | "totals" | "summary"
        | "result" | "results" | "time" | "duration" | "elapsed" | "finished" | "completed"
        | "executed" | "inspected" | "detected" | "generated" | "checked" | "found" | "done"
        | "in" | "of" | "out" | "with" | "and" | "after" | "all" | "s" | "ms" | "sec" | "secs"
        | "milliseconds" | "seconds" | "second" | "minutes" | "minute" | "skipped" | "skip"
        | "skips" | "pending" | "ignored" | "xfailed" | "xpassed" | "warning" | "warnings"
        | "deselected" | "todo" | "cancelled" | "canceled" | "flaky" | "rerun" | "reruns"
        | "retried" | "disabled" | "filtered" | "measured" | "omitted" | "inconclusive"
        | "slow" | "leaky" | "notice" | "notices" | "incomplete" | "risky" | "deprecations"
        | "deprecation" | "info" | "information" | "informations" | "infos" | "hints" | "hint"
        | "problem" | "problems" | "excluded" | "success" => CountedWord::Beside,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::totals;

    /// A line, and whether it says that all went well; `None` for a line without totals.
    #[test]
    fn totals_are_read_by_count_in_any_order() {
        for (line, well) in [
            ("10 passed, 1 warning, 2 errors in 0.3s", Some(false)),
            ("2 errors, 10 passed", Some(false)),
            ("=== 1 warning, 3 passed in 0.12s ===", Some(true)),
            ("Tests:    1 failed, 10 passed (12 assertions)", Some(false)),
            ("Tests  1 failed | 2 passed (3)", Some(false)),
            ("FAILED (failures=1, errors=2)", Some(false)),
            ("FAILED (errors=1)", Some(false)),
            ("test result: ok. 4 passed; 0 failed; 0 ignored; finished in 0.01s", Some(true)),
            ("Summary [   0.1s] 10 tests run: 9 passed, 1 failed, 0 skipped", Some(false)),
            ("5 runs, 7 assertions, 0 failures, 0 errors, 0 skips", Some(true)),
            ("1 doctest, 5 tests, 1 failure", Some(false)),
            ("Executed 5 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds", Some(false)),
            ("3 scenarios (1 failed, 2 passed)", Some(false)),
            ("67% tests passed, 1 tests failed out of 3", Some(false)),
            ("100% tests passed, 0 tests failed out of 3", Some(true)),
            ("# fail 1", Some(false)),
            ("ℹ fail 0", Some(true)),
            ("✖ 3 problems (1 error, 2 warnings)", Some(false)),
            ("✖ 3 problems (0 errors, 3 warnings)", Some(true)),
            ("[lint:go] 0 issues.", Some(true)),
            ("web:test: 2 passed, 1 failed", Some(false)),
            ("api-1  | 3 passed in 0.1s", Some(true)),
            ("0 issues.", Some(true)),
            ("5 files inspected, 2 offenses detected", Some(false)),
            ("Success: no issues found in 2 source files", Some(true)),
            ("2 warnings and 1 error generated.", Some(false)),
            ("Passed: 12, Failed: 0, Skipped: 1", Some(true)),
            ("Failed: 1 Passed: 3", Some(false)),
            ("0 passed", None),
            ("3 tests", None),
            ("the report counts 12 errors", None),
            ("error 5 in parser.c", None),
            ("make: *** [all] Error 1", None),
            ("ok 3 - reads a list", None),
        ] {
            let got = totals(line).map(|totals| !totals.failed && !totals.faulty);
            assert_eq!(got, well, "{line}");
        }
        let of_tests = |line| totals(line).is_some_and(|totals| totals.of_tests);
        assert!(of_tests("FAILED (errors=1)") && of_tests("3 passed") && of_tests("0 failures"));
        assert!(!of_tests("2 errors") && !of_tests("Success: no issues found in 2 source files"));
    }
}
