//! Signed reasoning that is void, and the newest round, which may have to be rewritten because of it.

use crate::log::EventLog;
use crate::profile::ReasoningBinding;
use crate::profile::VoidReasoning;
use crate::unit::starts_unit;
use crate::view::{BlockKind, EventView, Role};

/// The reasoning that becomes void once anything in the log is sent in another form than before.
pub(crate) fn voided(log: &EventLog, binding: ReasoningBinding) -> VoidReasoning {
    if binding == ReasoningBinding::Free {
        return VoidReasoning::default();
    }
    // By event number, not by length: in a log whose folded events are not loaded, the length is smaller.
    let before = log.events().last().map_or(0, |event| event.seq + 1);
    let told_round = (binding == ReasoningBinding::OpenRound).then(|| newest_round(log)).flatten();
    VoidReasoning { before, told_round }
}

/// The first message of the newest round that calls tools. `None` where it calls none, or the model signs no reasoning.
fn newest_round(log: &EventLog) -> Option<u32> {
    let events = log.events();
    let last = events.iter().rposition(|event| event.view.role == Role::Assistant)?;
    let first = (0..=last).rev().find(|at| starts_unit(events, *at))?;
    let calls = events[first..=last].iter().any(|event| event.view.has_calls());
    let thinks = || events.iter().any(|event| has_bound(&event.view));
    (calls && thinks()).then(|| events[first].seq)
}

/// Whether the event holds signed reasoning.
fn has_bound(view: &EventView) -> bool {
    view.blocks.iter().any(|block| matches!(block.kind, BlockKind::Reasoning { bound: true }))
}
