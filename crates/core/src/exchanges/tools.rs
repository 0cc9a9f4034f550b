//! The names of midfold's own tools, which a proxy answers and no client knows.

use crate::log::RECALL_TOOL;

/// Asks for a fold of the older messages.
pub const COMPACT_TOOL: &str = "midfold_compact";
/// Pins a message, so that no fold takes it.
pub const PIN_TOOL: &str = "midfold_pin";
/// Keeps a line of text in each recap.
pub const NOTE_TOOL: &str = "midfold_note";

/// The own tool of this name. `None` where the name is of no own tool.
pub(crate) fn own_tool(name: &str) -> Option<&'static str> {
    [RECALL_TOOL, COMPACT_TOOL, PIN_TOOL, NOTE_TOOL].into_iter().find(|tool| *tool == name)
}
