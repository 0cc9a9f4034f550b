//! What stands for the turns that left, computed: the same recap that a folded conversation gets.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::log::Log;
use midfold_core::recap::compose::{Frame, compose};
use midfold_core::recap::gather::Gathered;
use midfold_core::tools::ToolTable;
use midfold_core::trajectory::Span;
use midfold_core::{Counter, Hash, RawEvent, Role};

use super::row::Row;
use super::weigh::Bytes4;
use crate::profile;

/// What every summary starts with, whoever wrote it: what reads Hermes' rows looks for it.
pub const HEADER: &str = "[CONTEXT SUMMARY]:";

/// The summary of `span`, of at most `cap` tokens (but never less than one short sentence).
/// Everything in it is copied from the turns, escaped and redacted.
#[must_use]
pub fn summarise(row: &Row<'_>, span: Span, cap: u64, counter: &dyn Counter) -> String {
    let kind = row.shape().dialect();
    let profile = profile::for_dialect(kind).first().copied().unwrap_or(profile::OPENAI);
    // Events are counted when they are appended; here nobody asks for that.
    let events = span.range().map(|at| RawEvent::new(Bytes::copy_from_slice(row.turn_bytes(at))));
    let log = Log::of(kind.shared(), profile, Arc::new(Bytes4), events);
    let tools = ToolTable::builtin();
    let mut gathered = Gathered::default();
    gathered.add(log.events(), 0..log.len(), tools);
    let later = row.turns().get(span.end..).unwrap_or_default();
    let frame = Frame {
        cap,
        narration: "",
        counter,
        header: HEADER,
        elsewhere: &Default::default(),
        task_elsewhere: later.iter().any(|turn| turn.role == Role::User),
        file_blocks: false,
        focus: &[],
    };
    let composed = compose(&gathered, &frame);
    if composed.tokens <= cap {
        return composed.text;
    }
    let turns = span.len();
    format!("{HEADER} {turns} earlier turn{} left out.", if turns == 1 { "" } else { "s" })
}

/// Names the turns of `span` by their content: the same turns have the same name in every row, so
/// that a summary of them is asked for once.
#[must_use]
pub fn span_hash(row: &Row<'_>, span: Span) -> Hash {
    span.range().fold(Hash::ROOT, |hash, at| hash.chain(row.turn_bytes(at)))
}
