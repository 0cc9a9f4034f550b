//! `stub`: replaces a result by one line that says what happened, such as ``[terminal] ran `npm test` -> exit 0, 47
//! lines output`` (Hermes Agent). Salient lines follow below it, up to a cap. A policy can have the line quote how the
//! call ended, and end with the number of the message.

use std::fmt::Write;

use super::{Middle, MiddleBudget, Reducer, ReducerState, ResultRef};
use crate::policy::{ReducerName, StubPolicy};
use crate::salient;
use crate::tools::{CallFacts, CallResult, CallVerdict, ToolKind, ToolTable};

/// The reducer `stub`.
pub struct StubReducer;

/// Commands are quoted up to this many characters (Hermes Agent's peer cuts at 80).
const COMMAND_CHARS: usize = 80;
/// The line that says how a call ended is quoted up to this many characters.
const VERDICT_CHARS: usize = 120;
/// A text in brackets of up to this many characters is taken for a stub: it is no shorter as one.
const STUB_CHARS: usize = 400;

impl Reducer for StubReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Stub
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let settings = &state.policy.stub;
        let candidates: Vec<_> = middle
            .results()
            .iter()
            .enumerate()
            .filter_map(|(index, result)| Some((result.block?, index)))
            .collect();
        for (at, index) in candidates {
            let text = middle.text(at);
            // A short text in brackets is a stub already, such as that of `dedup` or `supersede`.
            if text.chars().nth(settings.min_chars).is_none()
                || text.starts_with('[') && text.chars().nth(STUB_CHARS).is_none()
            {
                continue;
            }
            let mut stub = line(middle, index, &text, settings, state.tools);
            for salient_line in salient::lines(&text, settings.salient_chars) {
                stub.push('\n');
                stub.push_str(&salient_line);
            }
            middle.replace(at, stub, ReducerName::Stub, "stubbed");
        }
        state
    }
}

/// The line that says what happened, with all that the policy adds to it.
fn line(
    middle: &Middle<'_>,
    index: usize,
    text: &str,
    settings: &StubPolicy,
    tools: &ToolTable,
) -> String {
    let facts = middle.facts(index);
    let result = middle.results().get(index);
    let outcome = tools.outcome(&facts, text, result.and_then(ResultRef::error_flag));
    let mut line = summary(&middle.tool(index), &facts, text, &outcome);
    if let Some(verdict) = verdict(&outcome).filter(|_| settings.verdicts)
        // Where the result has no line of its own, that is the exit code, which is there already.
        && !line.contains(&verdict)
    {
        let _ = write!(line, ": {}", salient::shorten(&verdict, VERDICT_CHARS));
    }
    if let Some(result) = result.filter(|_| settings.numbers) {
        let _ = write!(line, " @{}", result.event.seq);
    }
    line
}

/// The line of a result that says how the call ended: why it failed, or the totals of a check that passed.
fn verdict(outcome: &CallResult) -> Option<String> {
    match outcome.failure() {
        Some(failure) => failure.with_totals(),
        None => outcome.telling.clone().filter(|_| !outcome.passing_tools.is_empty()),
    }
}

/// What the call did, how large its result was, and how it ended.
fn summary(tool: &str, facts: &CallFacts, text: &str, outcome: &CallResult) -> String {
    let tool = if tool.is_empty() { "tool" } else { tool };
    let lines = text.lines().count();
    let chars = thousands(text.chars().count());
    let failed = match outcome.verdict {
        Some(CallVerdict::Failed) => ", error",
        Some(CallVerdict::Rejected) => ", rejected",
        Some(CallVerdict::Blocked) => ", blocked",
        Some(CallVerdict::Interrupted) => ", interrupted",
        Some(CallVerdict::Ok) | None => "",
    };
    match facts.kind {
        ToolKind::Shell => {
            let command = salient::shorten(facts.command.as_deref().unwrap_or("?"), COMMAND_CHARS);
            let exit = outcome.exit.map_or(String::new(), |code| format!("exit {code}, "));
            // A code other than 0 says enough. Beside a 0, and without a code, the line says how the call ended.
            let ended = if outcome.exit.unwrap_or(0) == 0 { failed } else { "" };
            format!("[{tool}] ran `{command}` -> {exit}{lines} lines output{ended}")
        }
        ToolKind::Read => {
            let from = facts.range.map_or(1, |(from, _)| from.max(1));
            format!(
                "[{tool}] read {} from line {from} ({chars} chars{failed})",
                paths(&facts.reads)
            )
        }
        ToolKind::Write | ToolKind::Edit => {
            let verb = if failed.is_empty() { "changed" } else { "tried to change" };
            format!("[{tool}] {verb} {} ({chars} chars output{failed})", paths(&facts.writes))
        }
        ToolKind::Search | ToolKind::List | ToolKind::Web => {
            let query = facts.query.as_deref().or(facts.reads.first().map(String::as_str));
            let query = salient::shorten(query.unwrap_or("?"), COMMAND_CHARS);
            format!("[{tool}] searched `{query}` -> {lines} lines ({chars} chars{failed})")
        }
        ToolKind::Task | ToolKind::Todo | ToolKind::Other => {
            format!("[{tool}] -> {lines} lines ({chars} chars{failed})")
        }
    }
}

/// The paths of a call on one line; `?` where it has none.
fn paths(paths: &[String]) -> String {
    if paths.is_empty() {
        "?".to_owned()
    } else {
        salient::shorten(&paths.join(", "), COMMAND_CHARS)
    }
}

/// A number with commas between thousands, as Hermes Agent prints it: `3,400`.
///
/// ```
/// assert_eq!(midfold_core::reduce::thousands(1_234_567), "1,234,567");
/// assert_eq!(midfold_core::reduce::thousands(12), "12");
/// ```
#[must_use]
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
