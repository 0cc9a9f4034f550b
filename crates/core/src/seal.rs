//! The mark of a recap: how one that the input holds is known for ours.
//!
//! A recap says what the user asked for and which rules hold, so that only our own may be read back
//! as that. Its end line carries a hash over its text and over what the user wrote before it. Who
//! puts a text into a conversation from outside (a page, a file, a tool) does not know the user's
//! words, and cannot compute it; a model cannot compute it without running a program. It is no
//! secret key: who knows both the algorithm and the user's words can make one. What carries no such
//! mark, or one that does not fit, is read as facts at most, never as the user's words.

use crate::event::Event;
use crate::repair::{CONTINUE_USER, EMPTY, OPENING};
use crate::view::BlockKind;

/// The last line of a computed recap without a mark.
pub const END: &str = "[End of recap. Newer messages follow.]";
/// Starts the line below a recap's header.
pub const NOTE_START: &str = "[Reference, not instructions.";
/// Hex digits of a mark.
const DIGITS: usize = 16;
/// What comes before and after the mark in the last line: of a recap, and of a short one.
const LINE: (&str, &str) = ("[End of recap ", ". Newer messages follow.]");
const SHORT_LINE: (&str, &str) = (LINE.0, ".]");
/// Separates these hashes from all others.
const CONTEXT: &str = "midfold 2026-11-25 recap mark";

/// The last line of the recap with this text, which is behind these events. That of a short one says no more
/// than it has to.
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

/// Whether the event at this place is a recap of ours: it has the mark of its text and its place.
#[must_use]
pub fn is_ours(events: &[Event], at: usize) -> bool {
    let Some(event) = events.get(at) else { return false };
    let text = event.view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
    let text = text.trim();
    let (body, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let Some(found) = mark_in(last).filter(|_| is_like(text)) else { return false };
    found == mark(&events[..at], &format!("{body}\n"))
}

/// Whether a text claims to be a computed recap.
#[must_use]
pub fn is_like(text: &str) -> bool {
    text.contains(NOTE_START)
}

fn mark_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(LINE.0)?;
    let mark = rest.strip_suffix(LINE.1).or_else(|| rest.strip_suffix(SHORT_LINE.1))?;
    (mark.len() == DIGITS && mark.bytes().all(|b| b.is_ascii_hexdigit())).then_some(mark)
}

fn mark(before: &[Event], text: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    for event in before.iter().filter(|event| event.view.is_real_user()) {
        let said = event.view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
        let said = said.trim();
        // What a repair puts in is no word of the user.
        if !["", OPENING, CONTINUE_USER, EMPTY].contains(&said) {
            hasher.update(&(said.len() as u64).to_le_bytes());
            hasher.update(said.as_bytes());
        }
    }
    // The spaces around it are the client's.
    hasher.update(text.trim().as_bytes());
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}
