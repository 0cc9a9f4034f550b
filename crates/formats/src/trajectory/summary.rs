//! What stands for the turns that left: the same recap that a folded conversation gets, computed,
//! and with what a model wrote in it where one did.

use midfold_core::narrate::Narrated;
use midfold_core::recap::compose::compose;
use midfold_core::recap::frame::Frame;
use midfold_core::recap::gather::Gathered;
use midfold_core::tools::ToolTable;
use midfold_core::trajectory::Span;
use midfold_core::{Counter, Hash, Role};

use super::reading::log;
use super::row::Row;

/// What every summary starts with, whoever wrote it: what reads Hermes' rows looks for it.
pub const HEADER: &str = "[CONTEXT SUMMARY]:";

/// The summary of `span`, of at most `cap` tokens (but never less than one short sentence).
/// Everything in it is copied from the turns, escaped and redacted.
#[must_use]
pub fn summarise(row: &Row<'_>, span: Span, cap: u64, counter: &dyn Counter) -> String {
    composed(row, span, cap, None, counter).0
}

/// As [`summarise`], with what a model wrote beside what is computed. Whether it found room.
pub(super) fn composed(
    row: &Row<'_>,
    span: Span,
    cap: u64,
    narrated: Option<&Narrated>,
    counter: &dyn Counter,
) -> (String, bool) {
    let log = log(row, span.range());
    let mut gathered = Gathered::default();
    gathered.add(log.events(), 0..log.len(), ToolTable::builtin());
    let later = row.turns().get(span.end..).unwrap_or_default();
    let narration = narrated.map(Narrated::recap_sections).unwrap_or_default();
    let frame = Frame {
        cap,
        narration: &narration,
        counter,
        header: HEADER,
        elsewhere: &Default::default(),
        task_elsewhere: later.iter().any(|turn| turn.role == Role::User),
        file_blocks: false,
        focus: &[],
        words: None,
    };
    let composed = compose(&gathered, &frame);
    if composed.tokens <= cap {
        return (composed.text, composed.narrated);
    }
    let turns = span.len();
    let s = if turns == 1 { "" } else { "s" };
    (format!("{HEADER} {turns} earlier turn{s} left out."), false)
}

/// Names the turns of `span` by their content: the same turns have the same name in every row, so
/// that a summary of them is asked for once.
#[must_use]
pub fn span_hash(row: &Row<'_>, span: Span) -> Hash {
    span.range().fold(Hash::ROOT, |hash, at| hash.chain(row.turn_bytes(at)))
}
