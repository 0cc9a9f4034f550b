//! What the user says while the agent works, as clients pass it on: beside a result, or at its end. The table is
//! [`STEERS`].

use crate::wrappers::{STEERS, SteerWrapper};

/// Where the words stand in a text, and where what is around them ends.
pub(crate) struct FoundSteer {
    /// Start of the user's words.
    pub words: usize,
    /// Their end.
    pub close: usize,
    /// The end of what the client wrote behind them.
    pub past: usize,
}

/// What begins at the start of this text, where it does.
pub(crate) fn at_start(text: &str) -> Option<FoundSteer> {
    STEERS.iter().find_map(|steer| found(steer, text))
}

fn found(steer: &SteerWrapper, text: &str) -> Option<FoundSteer> {
    let words = text.strip_prefix(steer.open).map(|_| steer.open.len())?;
    // The words are the user's, and may be like the close: the last one is it.
    let close = words + text[words..].rfind(steer.close)?;
    let behind = close + steer.close.len();
    let past = match steer.end {
        "" => text[behind..].find('\n').map_or(text.len(), |at| behind + at + 1),
        end => behind + text[behind..].find(end)? + end.len(),
    };
    Some(FoundSteer { words, close, past })
}

/// What stands at the end of a tool's result: where it starts, and the user's words. A tool may show the text
/// of such a message, so that nothing else counts than the very end of a result, or a text of its own.
pub(crate) fn at_end(last: &str, is_own: bool) -> Option<(usize, &str)> {
    STEERS.iter().filter(|steer| steer.in_result || is_own).find_map(|steer| {
        let at = if steer.in_result { last.rfind(steer.open)? } else { 0 };
        let starts_line = at == 0 || last[..at].ends_with('\n');
        let inside = found(steer, &last[at..]).filter(|_| starts_line)?;
        let ends = last[at + inside.past..].trim().is_empty();
        ends.then(|| (at, &last[at + inside.words..at + inside.close]))
    })
}

/// Whether the end of a recorded text may be the end of such words.
pub(crate) fn may_end(recorded: &[u8]) -> bool {
    let holds = |end: &[u8]| memchr::memmem::find(recorded, end).is_some();
    holds(b"USER MESSAGE]") || holds(b"system-reminder") || holds(b"this turn.")
}
