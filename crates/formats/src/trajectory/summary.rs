//! The summary in the place of replaced turns. It is the recap that a folded conversation gets: computed, with the text
//! of a model in it where one was accepted.

use std::borrow::Cow;

use midfold_core::narrate::AcceptedNarration;
use midfold_core::recap::compose::compose;
use midfold_core::recap::escape::neutralise;
use midfold_core::recap::frame::RecapFrame;
use midfold_core::recap::gather::{GatheredFacts, LogReading};
use midfold_core::recap::numbers::MessageNumbers;
use midfold_core::recap::{END, NOTE_START};
use midfold_core::tools::ToolTable;
use midfold_core::trajectory::TurnSpan;
use midfold_core::{Counter, Hash, Role};

use super::reading::log;
use super::row::TrajectoryRow;

/// The first words of every summary, whoever wrote it. Programs that read Hermes' rows look for them.
pub const HEADER: &str = "[CONTEXT SUMMARY]:";

/// The summary of `span`, with at most `cap` tokens; where nothing fits, it is one short sentence. Everything in it is
/// copied from the turns, escaped and redacted.
#[must_use]
pub fn summarise(
    row: &TrajectoryRow<'_>,
    span: TurnSpan,
    cap: u64,
    counter: &dyn Counter,
) -> String {
    composed(row, span, cap, None, counter).0
}

/// The summary as [`summarise`] computes it, with the text of a model in it. The `bool` says whether that text had
/// room.
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
    let elsewhere = Default::default();
    // A row of a training set is never read back, so a hash in it would be useless, and its turns have no numbers.
    let frame = RecapFrame {
        narration: &narration,
        numbers: MessageNumbers::Absent,
        task_in_head: span.start > 0,
        task_elsewhere: later.iter().any(|turn| turn.role == Role::User),
        ..RecapFrame::alone(cap, counter, HEADER, &elsewhere)
    };
    let composed = compose(&gathered, &frame);
    if composed.tokens <= cap {
        return (composed.text, composed.narrated);
    }
    let turns = span.len();
    let s = if turns == 1 { "" } else { "s" };
    (format!("{HEADER} {turns} earlier turn{s} left out."), false)
}

/// The text below a summary's header, with every mark escaped that has a meaning for a template or a reader. The two
/// lines that frame a computed summary are midfold's own and stay. The text between them was quoted when it was
/// composed, and quoting it again changes nothing.
pub(super) fn harmless(body: &str) -> String {
    let mut lines: Vec<Cow<'_, str>> = body.split('\n').map(Cow::Borrowed).collect();
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter_mut().enumerate() {
        let note = at == 1 && line.starts_with(NOTE_START);
        let end = at == last && at > 1 && &**line == END;
        if end {
            continue;
        }
        let prefix = if note { NOTE_START.len() } else { 0 };
        if let Cow::Owned(clean) = neutralise(&line[prefix..]) {
            *line = Cow::Owned(format!("{}{clean}", &line[..prefix]));
        }
    }
    lines.join("\n")
}

/// A hash of the contents of the turns of `span`. The same turns have the same hash in every row, so that their summary
/// is asked for once.
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
