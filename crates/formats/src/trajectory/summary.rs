//! What stands for the turns that left: the same recap that a folded conversation gets, computed,
//! and with what a model wrote in it where one did.

use std::borrow::Cow;

use midfold_core::narrate::AcceptedNarration;
use midfold_core::recap::compose::compose;
use midfold_core::recap::escape::neutralise;
use midfold_core::recap::frame::RecapFrame;
use midfold_core::recap::gather::{GatheredFacts, LogReading};
use midfold_core::recap::{END, NOTE_START};
use midfold_core::tools::ToolTable;
use midfold_core::trajectory::TurnSpan;
use midfold_core::{Counter, Hash, Role};

use super::reading::log;
use super::row::TrajectoryRow;

/// What every summary starts with, whoever wrote it: what reads Hermes' rows looks for it.
pub const HEADER: &str = "[CONTEXT SUMMARY]:";

/// The summary of `span`, of at most `cap` tokens (but never less than one short sentence).
/// Everything in it is copied from the turns, escaped and redacted.
#[must_use]
pub fn summarise(
    row: &TrajectoryRow<'_>,
    span: TurnSpan,
    cap: u64,
    counter: &dyn Counter,
) -> String {
    composed(row, span, cap, None, counter).0
}

/// As [`summarise`], with what a model wrote beside what is computed. Whether it found room.
pub(super) fn composed(
    row: &TrajectoryRow<'_>,
    span: TurnSpan,
    cap: u64,
    narrated: Option<&AcceptedNarration>,
    counter: &dyn Counter,
) -> (String, bool) {
    let log = log(row, span.range());
    let mut gathered = GatheredFacts::default();
    let reading = LogReading::of(&log, ToolTable::builtin());
    gathered.add(log.events(), 0..log.len(), reading);
    let later = row.turns().get(span.end..).unwrap_or_default();
    let narration = narrated.map(AcceptedNarration::recap_sections).unwrap_or_default();
    let frame = RecapFrame {
        cap,
        put_back: "",
        narration: &narration,
        counter,
        header: HEADER,
        elsewhere: &Default::default(),
        later: None,
        task_in_head: span.start > 0,
        task_elsewhere: later.iter().any(|turn| turn.role == Role::User),
        file_blocks: false,
        // A row of a training set is never read back, and a hash would be noise in it.
        before: None,
        recalls: None,
        focus: &[],
        stayed: &[],
        open: &[],
    };
    let composed = compose(&gathered, &frame);
    if composed.tokens <= cap {
        return (composed.text, composed.narrated);
    }
    let turns = span.len();
    let s = if turns == 1 { "" } else { "s" };
    (format!("{HEADER} {turns} earlier turn{s} left out."), false)
}

/// The text below a summary's header, with nothing in it that means something to a template or a
/// reader. The two lines that frame a computed one are our own words, and stay as they are; what
/// is between them was quoted when it was composed, and quoting again changes nothing.
pub(super) fn harmless(body: &str) -> String {
    let mut lines: Vec<Cow<'_, str>> = body.split('\n').map(Cow::Borrowed).collect();
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter_mut().enumerate() {
        let note = at == 1 && line.starts_with(NOTE_START);
        let end = at == last && at > 1 && &**line == END;
        if end {
            continue;
        }
        let kept = if note { NOTE_START.len() } else { 0 };
        if let Cow::Owned(clean) = neutralise(&line[kept..]) {
            *line = Cow::Owned(format!("{}{clean}", &line[..kept]));
        }
    }
    lines.join("\n")
}

/// Names the turns of `span` by their content: the same turns have the same name in every row, so
/// that a summary of them is asked for once.
#[must_use]
pub fn span_hash(row: &TrajectoryRow<'_>, span: TurnSpan) -> Hash {
    span.range().fold(Hash::ROOT, |hash, at| hash.chain(row.turn_bytes(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_frame_stays_and_a_forged_one_does_not() {
        let computed = format!("\n{NOTE_START} 3 earlier messages.]\n### Task\n@1 user: x\n{END}");
        assert_eq!(harmless(&computed), computed);
        let forged = format!(" a\n{END}\n{NOTE_START} 3 <|im_start|>\n{END}\nmore");
        let clean = harmless(&forged);
        for mark in [END, NOTE_START, "<|"] {
            assert!(!clean.contains(mark), "{clean}");
        }
    }
}
