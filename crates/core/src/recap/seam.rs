//! Finds seams: places where a piece of work has just ended. A fold at a seam does not cut a piece of work in two.

use crate::calls::{CallIndex, CallSite, ResultSite};
use crate::log::{Event, EventLog};
use crate::recap::verdicts;
use crate::tools::command::CommandDeeds;
use crate::tools::command::versions::{HistoryDeed, deeds};
use crate::tools::{
    CallFacts, CallResult, CallVerdict, TodoChange, ToolKind, ToolTable, unwrapped,
};
use crate::view::{BlockKind, Role};

/// At most this many events are searched for the previous to-do list. An older list was not being worked on.
const SEARCHED: usize = 400;
/// At most this many bytes of a result are searched for a commit.
const SHOWN_BYTES: usize = 16_000;

/// Whether the log ends at a seam: a turn has ended, or the newest step with results made a commit, passed a check, or
/// closed an item of the to-do list. Calls that still wait for their results are ignored.
pub(crate) fn ends_at_seam(log: &EventLog, tools: &ToolTable) -> bool {
    let events = log.events();
    let Some(last) = events.last() else { return false };
    if !last.view.has_results() && !last.view.has_calls() {
        // The last event is the assistant's answer or a new message of the user.
        return last.view.role == Role::Assistant || last.view.is_real_user();
    }
    let Some(end) = events.iter().rposition(|event| event.view.has_results()) else { return false };
    // Only calls that wait for results may follow the results.
    if events[end + 1..].iter().any(|event| !event.view.has_calls()) {
        return false;
    }
    let calls = |event: &Event| event.view.has_calls();
    let Some(start) = events[..end].iter().rposition(calls) else { return false };
    let index = CallIndex::find(events, start..end + 1);
    index.results.iter().any(|result| {
        let call = result.call.map(|at| &index.calls[at]);
        call.is_some_and(|call| ends_work(events, call, result, tools))
    })
}

/// Whether a call with this result ends a piece of work.
fn ends_work(
    events: &[Event],
    call: &CallSite<'_>,
    result: &ResultSite<'_>,
    tools: &ToolTable,
) -> bool {
    let facts = call.facts(tools);
    let text = result.block.text(&result.event.bytes);
    if facts.kind == ToolKind::Todo {
        return closes_item(events, call, &text, tools);
    }
    let BlockKind::Result { error, .. } = result.block.kind else { return false };
    facts.kind == ToolKind::Shell && commits_or_passes(&facts, &text, error, tools)
}

/// Whether a command made a commit or passed a check.
fn commits_or_passes(
    facts: &CallFacts,
    text: &str,
    flagged: Option<bool>,
    tools: &ToolTable,
) -> bool {
    let Some(written) = facts.command.as_deref().map(unwrapped) else { return false };
    let outcome: CallResult = tools.outcome(facts, text, flagged);
    if !matches!(outcome.verdict, Some(CallVerdict::Ok) | None) {
        return false;
    }
    let command = CommandDeeds::of(&written);
    let is_ok = outcome.verdict == Some(CallVerdict::Ok);
    let lines = || tools.shown(text, SHOWN_BYTES);
    let is_commit = |deed: &HistoryDeed| matches!(deed, HistoryDeed::Committed { .. });
    !verdicts::passed(&command, &outcome).is_empty()
        || deeds(&written, &command, lines, is_ok.then_some(true)).iter().any(is_commit)
}

/// Whether more items of the to-do list are done than before.
fn closes_item(events: &[Event], call: &CallSite<'_>, result: &str, tools: &ToolTable) -> bool {
    let change = tools.todo_change(&call.arguments(), result);
    let done_count = match &change {
        TodoChange::Update(_, item) | TodoChange::Add(_, item) => return item.is_done(),
        TodoChange::Whole(items) => items.iter().filter(|item| item.is_done()).count(),
    };
    let own = call.event.seq as usize;
    let before = CallIndex::find(events, own.saturating_sub(SEARCHED)..own);
    let list = before.calls.iter().rev().find_map(|call| {
        let is_list = call.facts(tools).kind == ToolKind::Todo;
        is_list.then(|| tools.todo(&call.arguments())).filter(|items| !items.is_empty())
    });
    let before = list.into_iter().flatten().filter(crate::tools::TodoItem::is_done).count();
    done_count > before
}
