//! What came of a call: how it ended, exit code, size, and the line that says most.
//!
//! Nothing is called good or bad without proof. Proof is an exit code that is the command's own
//! (`proof`), or a line by which a known tool says how it ended (`known`, `data/outcomes.toml`).
//! What a command shows of files proves nothing.

mod cause;
mod exit;
mod glob;
mod known_lines;
mod lines;
mod missing;
mod proof;
mod refusal;
mod signs;
mod verdict;

use std::borrow::Cow;

use super::args::CallArguments;
use super::facts::{CallFacts, ToolKind};
use crate::salient::shorten;
use known_lines::KnownOutcomes;
use lines::ResultWindows;
use proof::ResultProof;
use refusal::RefusedCall;
use signs::OutcomeSigns;
pub use verdict::CallVerdict;

/// What the result of a call says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallResult {
    /// How it ended, only where an exit code or a known line says so.
    pub verdict: Option<CallVerdict>,
    /// The exit code, where one is reported.
    pub exit: Option<i64>,
    /// Lines of the result.
    pub lines: usize,
    /// The line that says most: totals of a test run, else the first line of an error, else the
    /// last line that a command wrote. At most 160 characters, without colours and wrappers.
    pub telling: Option<String>,
    /// What the user said instead of allowing the call, where the result carries it; on one line
    /// of at most 2,000 characters.
    pub reason: Option<String>,
    /// Why it failed, where its output tells that beside totals.
    pub cause: Option<String>,
    /// It did not run because another call of its batch was rejected or failed.
    pub cancelled: bool,
    /// What it was to run is not there: `command not found`. That says nothing of the work.
    pub absent: bool,
    /// It goes on behind its result.
    pub runs_on: bool,
    /// The id by which it can be asked for then.
    pub runs_as: Option<String>,
    /// Nothing hides the command's exit code: no pipe, no `|| true`, nothing behind it.
    pub own_exit: bool,
    /// Something hides the exit code of what works in the command.
    pub masked: bool,
    /// A line by which a known tool says that all went well.
    pub well: bool,
    /// The names of the tools that the line is known from.
    pub of: &'static str,
    /// The names of the tools that wrote totals without a failure, where none wrote others.
    pub passed_of: &'static str,
}

/// How something failed. Only what failed has one, and its line is none that a tool writes where all
/// went well, so that `failed …: ok` cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    line: Option<String>,
    totals: Option<String>,
}

/// Longest line of a failure with its totals, in characters.
const BOTH: usize = 118;

impl CallFailure {
    /// The line that says most, where there is one.
    #[must_use]
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// The line, and the totals where both are short.
    #[must_use]
    pub fn with_totals(&self) -> Option<String> {
        let line = self.line.as_deref()?;
        let both = self.totals.as_ref().map(|totals| format!("{line} / {totals}"));
        let both = both.filter(|both| both.chars().count() <= BOTH);
        Some(both.unwrap_or_else(|| line.to_owned()))
    }

    /// The package that it says is not there.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        self.line().and_then(missing_in)
    }
}

impl CallResult {
    /// How it failed, where it did.
    #[must_use]
    pub fn failure(&self) -> Option<CallFailure> {
        let well = |line: &String| known_lines::table().is_some_and(|known| known.says_well(line));
        let telling = || self.telling.clone().filter(|line| !well(line));
        let exit = || self.exit.filter(|code| *code != 0).map(|code| format!("exit {code}"));
        if !self.failed() {
            return None;
        }
        Some(match &self.cause {
            Some(cause) => CallFailure {
                line: Some(cause.clone()),
                totals: telling().filter(|totals| !cause.contains(&**totals)),
            },
            None => CallFailure { line: telling().or_else(exit), totals: None },
        })
    }

    /// Whether it ran and did not do what was asked.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.verdict == Some(CallVerdict::Failed)
    }
}

/// Bytes of an output in which the cause of a failure is looked for.
const CAUSE_BYTES: usize = 64_000;
/// Characters of what the user said instead.
const REASON: usize = 2_000;

/// Lines of a result that is short enough to be the tool's own word and no content.
const SHORT: usize = 12;

pub(super) fn read(
    facts: &CallFacts,
    text: &str,
    flagged: Option<bool>,
    flags_each: bool,
) -> CallResult {
    let mut outcome = CallResult { lines: lines::count(text), ..CallResult::default() };
    let Some(known) = known_lines::table() else { return outcome };
    let windows = ResultWindows::of(text);
    if let Some(RefusedCall { verdict, reason, cancelled }) = known.refusal(&windows, flagged) {
        outcome.verdict = Some(verdict);
        outcome.cancelled = cancelled;
        outcome.reason = reason.map(|reason| shorten(&reason, REASON)).filter(|r| !r.is_empty());
        outcome.telling = match verdict {
            CallVerdict::Interrupted if facts.kind == ToolKind::Shell => known.last_line(&windows),
            _ => None,
        };
        outcome.telling = outcome.telling.or_else(|| known.first_line(&windows));
        return outcome;
    }
    match facts.kind {
        ToolKind::Shell => shell(known, facts, text, (flagged, flags_each), &mut outcome),
        kind => {
            tool(known, kind, &windows, flagged, &mut outcome);
            if outcome.failed() && matches!(kind, ToolKind::Write | ToolKind::Edit) {
                outcome.cause = cause::cause(known, windows.head);
            }
        }
    }
    outcome
}

/// Whether words stand in it by which clients lead to those of the user.
pub(super) fn may_hold_reason(text: &str) -> bool {
    known_lines::table().is_some_and(|known| known.may_hold_reason(ResultWindows::of(text).head))
}

/// A tool that runs no command: its own word is its flag, or the first line of a short result.
fn tool(
    known: &KnownOutcomes,
    kind: ToolKind,
    windows: &ResultWindows<'_>,
    flagged: Option<bool>,
    outcome: &mut CallResult,
) {
    let changes = matches!(kind, ToolKind::Write | ToolKind::Edit);
    if changes {
        outcome.exit = exit::code(windows);
    }
    let first = known.first_line(windows).unwrap_or_default();
    let bad = flagged != Some(false)
        && (changes || outcome.lines <= SHORT)
        && known.tool_error(&first, changes);
    outcome.verdict = match (flagged, outcome.exit) {
        (Some(true), _) => Some(CallVerdict::Failed),
        (_, Some(code)) if code != 0 => Some(CallVerdict::Failed),
        _ if bad => Some(CallVerdict::Failed),
        (_, Some(_)) => Some(CallVerdict::Ok),
        _ if changes && known.edit_done(&first) => Some(CallVerdict::Ok),
        _ => None,
    };
    if outcome.verdict.is_some() && !first.is_empty() {
        outcome.telling = Some(first);
    }
}

fn shell(
    known: &KnownOutcomes,
    facts: &CallFacts,
    text: &str,
    (flagged, flags_each): (Option<bool>, bool),
    outcome: &mut CallResult,
) {
    let unknown = || ResultProof { checks: true, ..ResultProof::default() };
    let proof = facts.command.as_deref().map_or_else(unknown, ResultProof::of);
    let body = body(text);
    let windows = ResultWindows::of(&body);
    outcome.exit = exit::code(&ResultWindows::of(text));
    let asked = if proof.asked { exit::asked(&windows) } else { None };
    outcome.exit = asked.or(outcome.exit);
    let signs =
        if proof.shows { known.complaints(&windows, &proof) } else { known.signs(&windows) };
    // Where the client flags each failure, what it did not flag is exit 0.
    let goes_on = known.goes_on(&ResultWindows::of(text));
    let runs_on = goes_on.is_some();
    let silent = outcome.exit.is_none() && flags_each && flagged != Some(true) && !runs_on;
    let exit = if silent { Some(0) } else { outcome.exit };
    outcome.own_exit = !proof.masked && !proof.earlier && !runs_on;
    // Of a check that ran twice in the command, before a change and after it, the last run counts.
    let ends_well = || known.last_line(&windows).is_some_and(|line| known.says_well(&line));
    let recovered = proof.again && (signs.recovered() || signs.failed.is_some() && ends_well());
    outcome.verdict = match exit {
        Some(0) | None if recovered && flagged != Some(true) => Some(CallVerdict::Ok),
        _ => verdict(exit, flagged, &proof, asked.is_some(), &signs),
    };
    outcome.runs_on = runs_on;
    outcome.runs_as = goes_on.as_deref().and_then(id_in).map(str::to_owned);
    if runs_on {
        outcome.verdict = None;
    }
    outcome.masked = proof.masked;
    outcome.well = signs.good() && !signs.bad() || recovered;
    outcome.of = signs.of;
    outcome.passed_of = if signs.failed.is_none() { signs.passed_of } else { "" };
    let mild = outcome.verdict.is_none() && matches!(outcome.exit, Some(code) if code != 0);
    outcome.telling = match outcome.exit {
        Some(code) if mild => Some(format!("exit {code}")),
        _ => signs
            .telling(outcome.verdict)
            .map(|line| lines::telling(&line))
            .or_else(|| known.telling(&windows, outcome.verdict)),
    };
    if outcome.verdict == Some(CallVerdict::Failed) {
        let front = &body[..body.floor_char_boundary(CAUSE_BYTES)];
        let cause = if proof.shows { None } else { cause::cause(known, front) };
        outcome.cause = cause.or_else(|| signs.error().map(lines::telling));
        if signs.failed.is_none() {
            outcome.telling = outcome.cause.clone().or(outcome.telling.take());
        }
    }
    let told = outcome.telling.as_deref().unwrap_or_default();
    outcome.absent =
        outcome.verdict == Some(CallVerdict::Failed) && known.is_absent(&windows, told);
}

/// What the exit code and the known lines prove together.
fn verdict(
    exit: Option<i64>,
    flagged: Option<bool>,
    proof: &ResultProof,
    asked: bool,
    signs: &OutcomeSigns,
) -> Option<CallVerdict> {
    let masked = proof.masked && !asked;
    // Totals count where a check wrote them: a headline of a report is none.
    if signs.failed.is_some() && proof.checks {
        return Some(CallVerdict::Failed);
    }
    let bad = if proof.checks { signs.bad() } else { signs.bad_beside_totals() };
    match exit {
        Some(0) if !(masked || proof.earlier && bad) => Some(CallVerdict::Ok),
        Some(0) | None if bad => Some(CallVerdict::Failed),
        None if flagged == Some(true) => Some(CallVerdict::Failed),
        Some(0) | None => signs.good().then_some(CallVerdict::Ok),
        Some(code) if proof.is_mild(code) && !bad => None,
        Some(_) => Some(CallVerdict::Failed),
    }
}

/// The lines of a result that a reader would see: without colours, what harnesses wrap around it, and
/// lines that say nothing. Of the first `bytes` of it.
pub(super) fn shown(text: &str, bytes: usize) -> Vec<String> {
    let body = body(text);
    let front = &body[..body.floor_char_boundary(bytes)];
    lines::lines(front).map(Cow::into_owned).filter(|line| lines::says(line)).collect()
}

/// The lines of a failure that may tell why, of the first `bytes` of it: without source that is
/// echoed, and what is said of other tests.
pub(super) fn telling_lines(text: &str, bytes: usize) -> Vec<String> {
    let body = body(text);
    let front = &body[..body.floor_char_boundary(bytes)];
    known_lines::table().map_or_else(Vec::new, |known| cause::telling_lines(known, front))
}

/// The package that a line says is not there.
pub(crate) fn missing_in(line: &str) -> Option<String> {
    known_lines::table()?.missing.of(line)
}

/// The output inside a result that is JSON: `{"output": "…", "exit_code": 0}`.
fn body(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with("{\"") {
        return Cow::Borrowed(text);
    }
    let fields = CallArguments::read(text);
    let field = |names: &[&str]| {
        fields.first(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    };
    let parts = [field(&["output", "stdout"]), field(&["stderr"]), field(&["error"])];
    let joined = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    if joined.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(joined) }
}

/// The id in a line that says that a command goes on: the word behind `ID`, or `session`.
fn id_in(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let behind = |name: &str| {
        let at =
            words.iter().position(|word| word.trim_end_matches(':').eq_ignore_ascii_case(name))?;
        words.get(at + 1).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    behind("id").or_else(|| behind("session")).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests;
