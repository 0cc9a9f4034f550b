//! Finds the user's words that clients pass on while the agent works: beside a result, or at its end. The table of
//! their forms is [`STEERS`].

use crate::wrappers::{STEERS, SteerWrapper};

/// The positions of the user's words in a text, and of the wrapper around them.
pub(crate) struct FoundSteer {
    /// The start of the user's words.
    pub words: usize,
    /// The end of the user's words.
    pub close: usize,
    /// The end of the client's words after them.
    pub past: usize,
}

/// Looks for such words at one position of a text after another.
#[derive(Debug, Default)]
pub(crate) struct SteerMarks {
    /// The wrappers, by index in the table, that the rest of the text does not close. Each is searched once, so that a
    /// text full of openings costs no more than any other.
    unclosed: u8,
}

const _: () = assert!(STEERS.len() <= 8);

impl SteerMarks {
    /// The user's words in the wrapper with which the rest of the text starts. `None` where it starts with no wrapper.
    pub(crate) fn at_start(&mut self, rest: &str) -> Option<FoundSteer> {
        let opened = |steer: &SteerWrapper| rest.starts_with(steer.open);
        let index = STEERS.iter().position(opened).filter(|at| self.unclosed & (1 << at) == 0)?;
        let matched = find_steer(&STEERS[index], rest);
        if matched.is_none() {
            self.unclosed |= 1 << index;
        }
        matched
    }
}

fn find_steer(steer: &SteerWrapper, text: &str) -> Option<FoundSteer> {
    let words = text.strip_prefix(steer.open).map(|_| steer.open.len())?;
    // The user's words may contain the closing text, so the last one counts.
    let close = words + text[words..].rfind(steer.close)?;
    let behind = close + steer.close.len();
    let past = match steer.end {
        "" => text[behind..].find('\n').map_or(text.len(), |at| behind + at + 1),
        end => behind + text[behind..].find(end)? + end.len(),
    };
    Some(FoundSteer { words, close, past })
}

/// The user's words at the end of a tool's result: the position where the wrapper starts, and the words. A tool may
/// print the text of such a message, so only the very end of a result counts, or a text of its own.
pub(crate) fn at_end(last: &str, is_own: bool) -> Option<(usize, &str)> {
    STEERS.iter().filter(|steer| steer.in_result || is_own).find_map(|steer| {
        let at = if steer.in_result { last.rfind(steer.open)? } else { 0 };
        let starts_line = at == 0 || last[..at].ends_with('\n');
        let inside = find_steer(steer, &last[at..]).filter(|_| starts_line)?;
        let ends = last[at + inside.past..].trim().is_empty();
        ends.then(|| (at, &last[at + inside.words..at + inside.close]))
    })
}

/// Whether a recorded text may end with such words.
pub(crate) fn may_end(recorded: &[u8]) -> bool {
    let holds = |end: &[u8]| memchr::memmem::find(recorded, end).is_some();
    holds(b"USER MESSAGE]") || holds(b"system-reminder") || holds(b"this turn.")
}
