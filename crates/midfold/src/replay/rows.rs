//! What a picture shows of an event.

use midfold_core::log::Log;
use midfold_core::recap::redact::Redactor;
use midfold_core::replay::{Arguments, message_text};
use midfold_core::view::BlockKind;

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
pub fn events(log: &Log) -> Vec<EventRow> {
    let row = |event: &midfold_core::log::Event| {
        let name = |kind: &BlockKind| match kind {
            BlockKind::Call { name, .. } | BlockKind::Result { name, .. } => {
                name.map(|name| name.decode(&event.bytes).into_owned())
            }
            _ => None,
        };
        let text = message_text(&event.bytes, &event.view, Arguments::Sent);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let line: String = line.trim().chars().take(LINE).collect();
        EventRow {
            // Some dialects carry results in the user's role: the lane of the user's words has none.
            role: if event.view.has_results() { "tool" } else { event.view.role.name() },
            tokens: event.tokens.total,
            line: hidden(&line),
            tool: event.view.blocks.iter().find_map(|block| name(&block.kind)),
        }
    };
    log.events().iter().map(row).collect()
}

/// Without what looks like a secret.
pub(super) fn hidden(text: &str) -> String {
    Redactor::shared().redact(text).0.into_owned()
}
