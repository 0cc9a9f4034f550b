//! What a picture shows of an event.

use midfold_core::log::{Event, EventLog};

use crate::texts::{line, role, tool};

/// Characters of an event's first line.
const LINE: usize = 160;

/// What a picture shows of an event: role, tokens, first line, tool.
pub struct EventRow {
    /// Who speaks; `tool` for whatever brings results.
    pub role: &'static str,
    /// Its tokens.
    pub tokens: u32,
    /// Its first line.
    pub line: String,
    /// The tool that it calls, or whose result it is.
    pub tool: Option<String>,
}

/// The rows of a log. First lines are redacted.
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
