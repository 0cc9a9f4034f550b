//! The outcome of a call: how it ended, its exit code, its size, and the line that says most.
//!
//! A verdict needs proof. Either an exit code belongs to the command itself (`proof`), or a known tool wrote a line
//! that says how it ended (`known_lines`, `data/outcomes.toml`). The content of files that a command shows proves
//! nothing.

mod body;
mod cause;
mod exit;
mod glob;
mod known_lines;
mod lines;
mod missing;
mod proof;
mod refusal;
mod signs;
mod totals;
mod verdict;

use std::borrow::Cow;

use super::facts::{CallFacts, ToolKind};
use crate::salient::shorten;
use body::ResultBody;
use known_lines::KnownOutcomes;
use lines::ResultWindows;
pub(crate) use missing::MissingPackage;
use proof::ResultProof;
use refusal::RefusedCall;
use signs::OutcomeSigns;
pub use verdict::CallVerdict;

/// The reading of a call's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallResult {
    /// How the call ended; `None` unless an exit code or a known line proves it.
    pub verdict: Option<CallVerdict>,
    /// The exit code; `None` where none is reported.
    pub exit: Option<i64>,
    /// The number of lines in the result.
    pub lines: usize,
    /// The line that says most: the totals of a test run, or else the first line of an error, or else the last line.
    /// At most 160 characters, without colours and wrapping.
    pub telling: Option<String>,
    /// The words that the user gave instead of allowing the call; on one line of at most 2,000 characters. `None`
    /// where the result holds none.
    pub reason: Option<String>,
    /// The line that says why the call failed, where the output has one beside the totals.
    pub cause: Option<String>,
    /// Whether it did not run because another call of its batch was rejected or failed.
    pub cancelled: bool,
    /// Whether the program to run does not exist (`command not found`). Such a failure says nothing about the work.
    pub absent: bool,
    /// Whether the command keeps running after its result.
    pub runs_on: bool,
    /// The id by which later calls ask for the running command's output.
    pub runs_as: Option<String>,
    /// Whether the client says that a command which kept running has ended.
    pub is_over: bool,
    /// Whether the shell could not read the command, so that nothing of it ran.
    pub unread: bool,
    /// Whether the output shows that the command is a check, which its name does not show.
    pub shows_check: bool,
    /// Whether the exit code is the command's own: there is no pipe, no `|| true`, and nothing behind it.
    pub own_exit: bool,
    /// Whether something hides the exit code of the step that does the work.
    pub masked: bool,
    /// Whether a known tool wrote a line that says that all went well.
    pub reports_success: bool,
    /// The names of the tools that wrote the failing line; empty where no known tool did.
    pub failing_tools: &'static str,
    /// The names of the tools that wrote totals without a failure; empty where there are none, or others have
    /// failures.
    pub passing_tools: &'static str,
}

/// The reason for a failure. Only a failed call has one, and its line is never one that a tool writes on success. So
/// a recap cannot say `failed …: ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    line: Option<String>,
    /// The line with the totals, such as `3 failed, 10 passed`.
    totals: Option<String>,
}

/// The line and the totals are joined only up to this length, in characters.
const BOTH: usize = 118;

impl CallFailure {
    /// The line that says most; `None` where the output has none.
    #[must_use]
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// The line, joined with the totals where both are short.
    #[must_use]
    pub fn with_totals(&self) -> Option<String> {
        let line = self.line.as_deref()?;
        let both = self.totals.as_ref().map(|totals| format!("{line} / {totals}"));
        let both = both.filter(|both| both.chars().count() <= BOTH);
        Some(both.unwrap_or_else(|| line.to_owned()))
    }

    /// The package that the line says is missing.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        self.line().and_then(missing_in).map(|missing| missing.name)
    }
}

/// Whether a known tool writes this line where all went well.
pub(crate) fn says_well(line: &str) -> bool {
    known_lines::table().is_some_and(|known| known.says_well(line))
}

impl CallResult {
    /// The reason for the failure; `None` where the call did not fail.
    #[must_use]
    pub fn failure(&self) -> Option<CallFailure> {
        let telling = || self.telling.clone().filter(|line| !says_well(line));
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

    /// Whether the call ran and failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.verdict == Some(CallVerdict::Failed)
    }
}

/// The cause of a failure is searched in this many bytes of the output.
const CAUSE_BYTES: usize = 64_000;
/// Longest reason that the user gave, in characters.
const REASON: usize = 2_000;

/// A result of at most this many lines may be an error message of the tool. A longer one is content.
const SHORT: usize = 12;

/// Reads the outcome of a call. `flags_each` says that the client flags every failure.
pub(super) fn read(
    facts: &CallFacts,
    text: &str,
    flagged: Option<bool>,
    flags_each: bool,
) -> CallResult {
    let mut outcome = CallResult { lines: lines::count(text), ..CallResult::default() };
    let Some(known) = known_lines::table() else { return outcome };
    let windows = ResultWindows::of(text);
    // First of all: a call that did not run has no outcome, whatever its text holds.
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
    outcome.is_over = known.is_over(&windows);
    match facts.kind {
        ToolKind::Shell => shell(known, facts, text, (flagged, flags_each), &mut outcome),
        kind => {
            tool(known, kind, &windows, flagged, &mut outcome);
            if let Some(line) = known.goes_on(&windows).filter(|_| kind == ToolKind::Task) {
                outcome.runs_on = true;
                outcome.runs_as = id_of(&line, windows.head);
            }
            if outcome.failed() && matches!(kind, ToolKind::Write | ToolKind::Edit) {
                outcome.cause = cause::cause(known, windows.head);
                // The first line has no totals, so the cause says most.
                outcome.telling = outcome.cause.clone().or(outcome.telling.take());
            }
        }
    }
    outcome
}

/// Whether the result holds words after which clients quote the user's reason.
pub(super) fn may_hold_reason(text: &str) -> bool {
    known_lines::table().is_some_and(|known| known.may_hold_reason(ResultWindows::of(text).head))
}

/// Reads the result of a tool that runs no command. Its error flag counts, or the first line of a short result.
fn tool(
    known: &KnownOutcomes,
    kind: ToolKind,
    windows: &ResultWindows<'_>,
    flagged: Option<bool>,
    outcome: &mut CallResult,
) {
    let changes = matches!(kind, ToolKind::Write | ToolKind::Edit);
    if changes {
        outcome.exit = ResultBody::of(windows.head).exit.or_else(|| exit::code(windows));
    }
    let first = known.first_line(windows).unwrap_or_default();
    // Where the client says that the call succeeded, an error text is content.
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

/// Reads the result of a command.
fn shell(
    known: &KnownOutcomes,
    facts: &CallFacts,
    text: &str,
    (flagged, flags_each): (Option<bool>, bool),
    outcome: &mut CallResult,
) {
    let unknown = || ResultProof { checks: true, ..ResultProof::default() };
    let mut proof = facts.command.as_deref().map_or_else(unknown, ResultProof::of);
    let ResultBody { text: body, exit: reported, session } = ResultBody::of(text);
    let windows = ResultWindows::of(&body);
    let whole = ResultWindows::of(text);
    outcome.exit = reported.or_else(|| exit::code(&whole));
    let printed = if proof.prints_exit_code { exit::printed(&windows) } else { None };
    // The printed code is that of the work. The harness reports the code of the `echo`.
    outcome.exit = printed.or(outcome.exit);
    let signs = match proof.only_shows {
        true => known.complaints(&windows, &proof),
        false => known.signs(&windows, &proof.echoes),
    };
    outcome.shows_check = proof.may_check && signs.of_runner;
    proof.checks |= outcome.shows_check;
    note_running(known, [&whole, &windows], (session, reported), outcome);
    // Where the client flags each failure, a command without a flag exited with 0.
    let silent = outcome.exit.is_none() && flags_each && flagged != Some(true) && !outcome.runs_on;
    let exit = if silent { Some(0) } else { outcome.exit };
    outcome.unread = exit != Some(0) && known.is_unread(&windows);
    outcome.own_exit = !proof.masked && !proof.hides_earlier && !outcome.runs_on;
    // Where a check runs twice in one command, before a change and after it, the last run counts.
    let ends_well = || {
        let well = |line: &String| known.says_well(line) && !proof.echoes.contains(line);
        known.last_line(&windows).is_some_and(|line| well(&line))
    };
    let recovered =
        proof.repeats_check && (signs.recovered() || signs.failed.is_some() && ends_well());
    outcome.verdict = match exit {
        // A command that still runs has not ended, whatever its first lines say.
        _ if outcome.runs_on => None,
        _ if outcome.unread => Some(CallVerdict::Failed),
        Some(0) | None if recovered && flagged != Some(true) => Some(CallVerdict::Ok),
        _ => verdict(exit, flagged, &proof, printed.is_some(), &signs),
    };
    outcome.masked = proof.masked;
    outcome.reports_success = signs.good() && !signs.bad() || recovered;
    outcome.failing_tools = signs.failing_tools;
    outcome.passing_tools = if signs.failed.is_none() { signs.passing_tools } else { "" };
    // A code that is an answer proves nothing, and is still what says most.
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
        let cause =
            if proof.only_shows || outcome.unread { None } else { cause::cause(known, front) };
        outcome.cause = cause.or_else(|| signs.error().map(lines::telling));
        if signs.failed.is_none() {
            outcome.telling = outcome.cause.clone().or(outcome.telling.take());
        }
    }
    let telling = outcome.telling.as_deref().unwrap_or_default();
    outcome.absent = outcome.failed() && known.is_absent(&windows, telling);
}

/// Notes whether the command keeps running, and under which id. A result with a session and without an exit code is that
/// of a command which has not ended.
fn note_running(
    known: &KnownOutcomes,
    [whole, body]: [&ResultWindows<'_>; 2],
    (session, exit): (Option<String>, Option<i64>),
    outcome: &mut CallResult,
) {
    let line = known.goes_on(whole).or_else(|| known.goes_on(body));
    outcome.runs_on = line.is_some() || session.is_some() && exit.is_none();
    outcome.runs_as = session.or_else(|| id_of(&line?, whole.head));
}

/// The verdict that the exit code and the known lines prove together; `None` where they prove nothing.
fn verdict(
    exit: Option<i64>,
    flagged: Option<bool>,
    proof: &ResultProof,
    is_printed: bool,
    signs: &OutcomeSigns,
) -> Option<CallVerdict> {
    let masked = proof.masked && !is_printed;
    // Totals count only where a check wrote them: a headline in a report may look the same.
    if signs.failed.is_some() && proof.checks {
        return Some(CallVerdict::Failed);
    }
    let bad = if proof.checks { signs.bad() } else { signs.bad_beside_totals() };
    match exit {
        Some(0) if !(masked || proof.hides_earlier && bad) => Some(CallVerdict::Ok),
        Some(0) | None if bad => Some(CallVerdict::Failed),
        None if flagged == Some(true) => Some(CallVerdict::Failed),
        Some(0) | None => signs.good().then_some(CallVerdict::Ok),
        Some(code) if proof.is_answer_code(code) && !bad => None,
        Some(_) => Some(CallVerdict::Failed),
    }
}

/// The first `lines` lines in the first `bytes` bytes of a result that say something, as a reader sees them: without colours and
/// without the wrapping that harnesses add.
pub(super) fn shown(text: &str, bytes: usize, lines: usize) -> Vec<String> {
    let body = ResultBody::of(text).text;
    let body = body::below_output(&body);
    let front = &body[..body.floor_char_boundary(bytes)];
    let telling = lines::lines(front).filter(|line| lines::says(line));
    telling.take(lines).map(Cow::into_owned).collect()
}

/// The lines that may say why a call failed, from the first `bytes` bytes of its result. Echoed source and lines about
/// other tests are left out.
pub(super) fn telling_lines(text: &str, bytes: usize) -> Vec<String> {
    let body = ResultBody::of(text).text;
    let body = body::below_output(&body);
    let front = &body[..body.floor_char_boundary(bytes)];
    known_lines::table().map_or_else(Vec::new, |known| cause::telling_lines(known, front))
}

/// The package that a line says is missing; `None` for any other line.
pub(crate) fn missing_in(line: &str) -> Option<MissingPackage> {
    known_lines::table()?.missing.of(line)
}

/// The id of what keeps running: that of the line which says so, or else the first one below it.
fn id_of(line: &str, head: &str) -> Option<String> {
    let below =
        head.lines().take(BELOW).filter(|line| line.contains("Id: ") || line.contains("ID: "));
    let below = || below.map(str::trim).find_map(id_in);
    id_in(line).or_else(below).map(str::to_owned)
}

/// At most this many lines are searched for the id of what keeps running.
const BELOW: usize = 6;

/// The id in a line that says that a command keeps running: the word behind `ID` or `session`.
fn id_in(line: &str) -> Option<&str> {
    const NAMES: [&str; 5] = ["id", "session", "agentid", "pid", "pids"];
    // A colon with spaces around it is no word.
    let words = line.split([' ', '=', '\t']).filter(|word| !matches!(*word, "" | ":"));
    let words: Vec<&str> =
        words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let is_name = |word: &str| NAMES.iter().any(|name| word.eq_ignore_ascii_case(name));
    NAMES.iter().find_map(|name| {
        let at = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
        words[at + 1..].iter().find(|word| !is_name(word)).copied().filter(|id| !id.is_empty())
    })
}

#[cfg(test)]
mod tests;
