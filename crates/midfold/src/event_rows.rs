//! The rows of a picture of a session: one for each event.

use midfold_core::log::{Event, EventLog};

use crate::texts::{line, role, tool};

/// The most characters of an event's first line.
const LINE: usize = 160;

/// One row of a picture: role, tokens, first line and tool of an event.
pub struct EventRow {
    /// The role; `tool` for an event that brings results.
    pub role: &'static str,
    /// Its tokens.
    pub tokens: u32,
    /// Its first line, redacted, at most 160 characters.
    pub line: String,
    /// The tool that it calls, or whose result it is; `None` for other events.
    pub tool: Option<String>,
}

/// Returns one row for each event of the log. First lines are redacted.
#[must_use]
pub fn event_rows(log: &EventLog) -> Vec<EventRow> {
    let row = |event: &Event| EventRow {
        role: role(event),
        tokens: event.tokens.total,
        line: line(event, LINE),
        tool: tool(event),
    };
    log.events().iter().map(row).collect()
}
