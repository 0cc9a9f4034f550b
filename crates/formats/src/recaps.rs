//! The first words of recaps of earlier compactions, by any client.

/// The header of one known kind of recap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecapHeader {
    /// The client that writes it.
    pub author: &'static str,
    /// The start of its text.
    pub starts: &'static str,
}

const fn header(author: &'static str, starts: &'static str) -> RecapHeader {
    RecapHeader { author, starts }
}

/// All headers that are recognised. A header that was ever written is never removed from this list.
pub const RECAP_HEADERS: &[RecapHeader] = &[
    header("midfold", "## Conversation Summary"),
    header("hermes", "[CONTEXT COMPACTION"),
    header("hermes", "[CONTEXT SUMMARY]"),
    header(
        "claude-code",
        "This session is being continued from a previous conversation that ran out of context",
    ),
    header("codex", "Another language model started to solve this problem"),
    header(
        "pi",
        "The conversation history before this point was compacted into the following summary",
    ),
    header("pi", "The following is a summary of a branch"),
    header("goose", "<summary>"),
    header("openhands", "<CONVERSATION SUMMARY>"),
    header("gemini-cli", "<state_snapshot>"),
    header("langchain", "Here is a summary of the conversation to date:"),
];

pub use midfold_core::recap::MARKER;

/// Whether `text` is a recap or the marker. White space around it is ignored.
///
/// ```
/// use midfold_formats::recaps::is_recap;
/// assert!(is_recap("[CONTEXT SUMMARY]: the user wants a parser"));
/// assert!(is_recap("[Earlier messages truncated]"));
/// assert!(!is_recap("What does [CONTEXT SUMMARY] mean?"));
/// ```
#[must_use]
pub fn is_recap(text: &str) -> bool {
    let text = text.trim_start();
    RECAP_HEADERS.iter().any(|header| text.starts_with(header.starts)) || text.trim_end() == MARKER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_is_a_recap_only_at_the_start() {
        for RecapHeader { starts, .. } in RECAP_HEADERS {
            assert!(is_recap(&format!("\n{starts}: more")), "{starts}");
            assert!(!is_recap(&format!("See: {starts}")), "{starts}");
        }
        assert!(is_recap(&format!(" {MARKER}\n")));
        assert!(!is_recap(&format!("{MARKER} and so on")));
        assert!(!is_recap(""));
    }
}
