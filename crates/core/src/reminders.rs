//! Reminders of clients: said once, and in force until the client says otherwise.

use rustc_hash::FxHashSet;

use crate::calls::{CallIndex, tool_of};
use crate::event::Event;
use crate::log::EventLog;
use crate::view::{BlockKind, Role, TextOrigin};
use crate::voice::ClientReminder;

/// The newest reminder of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandingReminder {
    /// The event that holds it.
    pub seq: u32,
    /// The tool whose result ends with it; `None` where the client gave it beside all results.
    pub tool: Option<String>,
    /// The words.
    pub text: String,
}

/// The reminders of clients that still hold, in the order of the log: of each kind the newest.
///
/// The end of a tool's result counts only for a kind that the client has used beside results before. So a tool can end a
/// mode, and cannot begin one.
pub(crate) fn standing(log: &EventLog) -> Vec<StandingReminder> {
    let clients = log.dialect().client_words();
    let mut newest: Vec<(ClientReminder, StandingReminder)> = Vec::new();
    for event in log.events() {
        let has_results = event.view.has_results();
        let may = matches!(event.view.role, Role::User | Role::Tool) || has_results;
        if !may
            || event.view.origin == TextOrigin::Recap
            || !clients.may_remind(&event.bytes, has_results)
        {
            continue;
        }
        for (reminder, is_result) in reminders_in(event, log) {
            let same = newest.iter().position(|(before, _)| is_same(before, &reminder));
            if is_result && same.is_none() {
                continue;
            }
            same.map(|at| newest.remove(at));
            let tool = is_result.then(|| tool(log, event));
            let stands = StandingReminder { seq: event.seq, tool, text: reminder.text.clone() };
            newest.push((reminder, stands));
        }
    }
    newest.into_iter().map(|(_, stands)| stands).collect()
}

/// The reminders of an event. Each says whether a tool's result ends with it.
fn reminders_in(event: &Event, log: &EventLog) -> Vec<(ClientReminder, bool)> {
    let clients = log.dialect().client_words();
    let texts = |wanted: fn(&BlockKind) -> bool| {
        let blocks = event.view.blocks.iter().filter(move |block| wanted(&block.kind));
        blocks.map(|block| block.text(&event.bytes)).collect::<Vec<_>>()
    };
    let results = texts(|kind| matches!(kind, BlockKind::Result { .. }));
    let ends = results.iter().filter_map(|text| clients.reminder_at_end(text));
    let ends = ends.map(|reminder| (reminder, true));
    let user_texts = match event.view.role {
        Role::User => texts(|kind| *kind == BlockKind::Text),
        _ => Vec::new(),
    };
    let user_texts: Vec<&str> = user_texts.iter().map(|text| &**text).collect();
    ends.chain(clients.reminders(&user_texts).into_iter().map(|reminder| (reminder, false)))
        .collect()
}

/// The name of the tool whose result an event holds.
fn tool(log: &EventLog, event: &Event) -> String {
    // Beside the calls of the same step no other can be answered here.
    let at = log.events().partition_point(|other| other.seq < event.seq);
    let from = log.events()[..at].iter().rposition(|other| other.view.has_calls()).unwrap_or(at);
    let calls = CallIndex::find(log.events(), from..at + 1);
    let site = calls.results.iter().find(|site| site.event.seq == event.seq);
    let name =
        site.map(|site| tool_of(calls.call_of(site).as_ref(), site.event, site.block).into_owned());
    name.unwrap_or_default()
}

/// Whether a reminder replaces one before it: both are of one kind, and about one subject.
fn is_same(before: &ClientReminder, later: &ClientReminder) -> bool {
    before.kind == later.kind
        && match (&before.subject, &later.subject) {
            (Some(before), Some(later)) => before == later || shares_words(before, later),
            _ => true,
        }
}

/// The fewest letters of a word that says what a reminder is about.
const TELLING: usize = 4;

/// Whether two subjects share two words in a row: "Plan mode is on" and "Exited plan mode" do.
fn shares_words(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let telling = words.filter(|word| word.chars().count() >= TELLING);
        telling.map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    let pairs: FxHashSet<&[String]> = one.windows(2).collect();
    other.windows(2).any(|pair| pairs.contains(pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_the_same_by_two_words_in_a_row() {
        for later in ["Exited Plan Mode", "Plan mode left (OFF)", "You are in plan mode again"] {
            assert!(shares_words("Plan mode is active", later), "{later}");
        }
        let skills = "The following skills are available for use with the Skill tool:";
        for other in
            ["The following servers have connected:", "Plan mode is on", "MCP Server Instructions"]
        {
            assert!(!shares_words(skills, other), "{other}");
        }
    }
}
