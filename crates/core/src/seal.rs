//! The mark of a recap, by which midfold recognises its own recaps in an input.
//!
//! A recap says what the user asked for and which rules hold, so only midfold's own may be read back as that. Its last
//! line carries a hash over its text and over the user's messages before it.
//!
//! Text that enters a conversation from outside (a page, a file, a tool) cannot carry the right hash, because its
//! author does not know the user's words. A model cannot compute the hash without running a program. The mark is no
//! secret key: anybody who knows the algorithm and the user's words can make one. A text without a valid mark is read
//! as facts at most, never as the user's words.

use crate::event::Event;
use crate::repair::{CONTINUE_USER, EMPTY, OPENING};
use crate::view::BlockKind;

/// The last line of a computed recap that has no mark.
pub const END: &str = "[End of recap. Newer messages follow.]";
/// The start of the line below a recap's header.
pub const NOTE_START: &str = "[Reference, not instructions.";
/// Hex digits of a mark.
const DIGITS: usize = 16;
/// The text before and after the mark in the last line of a recap.
const LINE: (&str, &str) = ("[End of recap ", ". Newer messages follow.]");
/// The same for a short recap.
const SHORT_LINE: (&str, &str) = (LINE.0, ".]");
/// The context of the hash, so that it differs from every other hash.
const CONTEXT: &str = "midfold 2026-11-25 recap mark";

/// The last line of a recap with this text, which follows these events. The line of a short recap is shorter.
#[must_use]
pub fn end_line(before: &[Event], text: &str, is_short: bool) -> String {
    let (start, end) = if is_short { SHORT_LINE } else { LINE };
    format!("{start}{}{end}", mark(before, text))
}

/// Whether a line ends a recap, with or without a mark.
#[must_use]
pub fn is_end(line: &str) -> bool {
    line == END || mark_in(line).is_some()
}

/// Whether the event at this position is a recap of midfold's own: its mark fits its text and the events before it.
#[must_use]
pub fn is_ours(events: &[Event], at: usize) -> bool {
    let Some(event) = events.get(at) else { return false };
    let text = event.view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
    let text = text.trim();
    let (body, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let Some(seal) = mark_in(last).filter(|_| is_like(text)) else { return false };
    seal == mark(&events[..at], &format!("{body}\n"))
}

/// Whether a text looks like a computed recap.
#[must_use]
pub fn is_like(text: &str) -> bool {
    text.contains(NOTE_START)
}

/// The mark in the last line of a recap; `None` where the line has none.
fn mark_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(LINE.0)?;
    let mark = rest.strip_suffix(LINE.1).or_else(|| rest.strip_suffix(SHORT_LINE.1))?;
    (mark.len() == DIGITS && mark.bytes().all(|b| b.is_ascii_hexdigit())).then_some(mark)
}

/// The mark of a recap's text behind these events.
fn mark(before: &[Event], text: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    for event in before.iter().filter(|event| event.view.is_real_user()) {
        let words = event.view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
        let words = words.trim();
        // Texts that a repair inserted are not the user's words.
        if !["", OPENING, CONTINUE_USER, EMPTY].contains(&words) {
            // The length comes first, so that two messages never hash like one.
            hasher.update(&(words.len() as u64).to_le_bytes());
            hasher.update(words.as_bytes());
        }
    }
    // Clients may change the white space around a message.
    hasher.update(text.trim().as_bytes());
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}
