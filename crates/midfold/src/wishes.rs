//! Carries out the wishes of an agent for its own conversation. Each function answers with a text for the model, also
//! for errors.

use midfold_core::budget::Budget;
use midfold_core::engine::{NotedHistory, Session};
use midfold_core::trigger::{FoldDue, HoldReason, Millis};
use midfold_core::view::{BlockKind, EventView};

/// The least letters and digits that words must have to name a message. Fewer would match too many messages.
const LEAST_WORDS: usize = 6;
/// Pinned messages may take the budget divided by this, as much as recalled text may.
const SHARE: u64 = 8;

/// Asks for a fold on behalf of the agent. Statements with words of `keep` weigh more in its recap. `budget` is the one
/// that the next context has to fit, as far as it is known.
pub fn compact(session: &mut Session, budget: &Budget, keep: &str, now: Millis) -> String {
    let keep = Some(keep.trim()).filter(|keep| !keep.is_empty());
    match session.ask_for_fold(budget, keep, now) {
        // The call that asks for the fold has no result yet. If the session already has it, the fold waits for that
        // result only.
        due if due.fires() || due == FoldDue::Held(HoldReason::OpenCall) => {
            "the older part is replaced by a summary before your next turn\n".to_owned()
        }
        FoldDue::Held(hold) => format!("not done: {hold}\n"),
        _ => {
            let (tokens, line) = (session.load().estimate, session.asked_line(budget));
            format!(
                "not done: there is room enough: {tokens} tokens, and below {line} a summary costs more \
                 than it frees\n"
            )
        }
    }
}

/// Adds a line of the agent that each later recap has.
pub fn note(session: &mut Session, text: &str) -> String {
    let read = NotedHistory::of(session.log());
    note_of(session, text, read)
}

/// As [`note`], for an agent that has read the history `read`, which may be longer than the log.
pub fn note_of(session: &mut Session, text: &str, read: NotedHistory) -> String {
    match session.note_of(text, Some(read)) {
        Ok(dropped) if dropped.is_empty() => {
            "noted: each summary from the next one on has it\n".to_owned()
        }
        Ok(dropped) => {
            let dropped: String = dropped.iter().map(|note| format!("- {note}\n")).collect();
            format!("noted; these older notes went for it:\n{dropped}")
        }
        Err(error) => format!("error: {error}\n"),
    }
}

/// Pins a message for the agent. `seq` is its event, which may not be in the log yet; `tokens` is its size.
pub fn pin(session: &mut Session, budget: &Budget, seq: u32, tokens: u64) -> String {
    if session.pins().contains(&seq) {
        return format!("message @{seq} is kept already\n");
    }
    let events = session.log().events();
    // A pin may be of an event that is not in the log yet, whose size is not known here.
    let pinned = session.pins().iter().filter_map(|pin| events.get(*pin as usize));
    let pinned: u64 = pinned.map(|event| u64::from(event.tokens.total)).sum();
    let most = budget.tokens() / SHARE;
    if pinned + tokens > most {
        return format!(
            "not done: it has {tokens} tokens, and kept messages may have {most} in all ({pinned} are \
             taken); a note takes less\n"
        );
    }
    session.pin(seq);
    format!("message @{seq} stays whole ({tokens} tokens)\n")
}

/// Finds which of `count` messages an agent means: by its number, or as the newest message that has the words.
/// `has_words` says whether a message has given words.
pub fn message(
    count: usize,
    number: &str,
    words: &str,
    has_words: impl Fn(usize, &str) -> bool,
) -> Result<usize, String> {
    let (number, words) = (number.trim(), words.trim());
    if words.is_empty() && number.is_empty() {
        return Err("error: send `text`, or the number of a `message`\n".to_owned());
    }
    if words.is_empty() {
        let at = number.trim_start_matches('@').parse().ok().filter(|at| *at < count);
        return at.ok_or_else(|| format!("error: there is no message `{number}`\n"));
    }
    if words.chars().filter(|c| c.is_alphanumeric()).count() < LEAST_WORDS {
        return Err("error: send more words of the message\n".to_owned());
    }
    let place = (0..count).rev().find(|at| has_words(*at, words));
    let none = "error: no message has these words; send them letter by letter, within one line\n";
    place.ok_or_else(|| none.to_owned())
}

/// Whether the text or a result of a message has these words. Arguments of calls are not searched: the very call that
/// asks has the words in its arguments.
pub fn says(view: &EventView, bytes: &[u8], words: &str) -> bool {
    let says = |kind: &BlockKind| matches!(kind, BlockKind::Text | BlockKind::Result { .. });
    view.blocks.iter().any(|block| says(&block.kind) && block.text(bytes).contains(words))
}
