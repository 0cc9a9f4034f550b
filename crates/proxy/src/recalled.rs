//! Keeps recalled messages in the context: they are not folded again during the turn that asked for them.

use std::collections::VecDeque;

use midfold_core::engine::Session;
use midfold_core::log::{Event, RECALL_TOOL};
use midfold_core::view::BlockKind;

/// The most that recalled messages may take: the window divided by this.
const MOST_KEPT: u64 = 8;

/// The pinned calls of the recall tool, in order. A pin also keeps the results of the call.
#[derive(Default)]
pub(super) struct RecalledCalls(VecDeque<u32>);

impl RecalledCalls {
    /// The pinned recall calls of a session.
    pub fn of(session: &Session) -> Self {
        let events = session.log().events();
        let asks = |seq: &u32| events.get(*seq as usize).is_some_and(asks);
        Self(session.pins().iter().copied().filter(asks).collect())
    }

    /// Follows an appended message: pins a recall call, and unpins calls of earlier turns or, if they take too much,
    /// the oldest ones.
    pub fn follow(&mut self, session: &mut Session, seq: u32, window: u64) {
        let Some(event) = session.log().events().get(seq as usize) else { return };
        let (turn, asks) = (event.turn, asks(event));
        if asks {
            session.pin(seq);
            self.0.push_back(seq);
        }
        while let Some(first) = self.0.front().copied()
            && (is_before(session, first, turn) || self.is_too_much(session, window))
        {
            session.unpin(first);
            self.0.pop_front();
        }
    }

    /// Whether more than one call is pinned, and all of them together exceed the limit.
    fn is_too_much(&self, session: &Session, window: u64) -> bool {
        let log = session.log();
        // The result is the event behind the call.
        let tokens = |seq: &u32| log.tokens_in(*seq as usize..(*seq as usize + 2).min(log.len()));
        self.0.len() > 1 && self.0.iter().map(tokens).sum::<u64>() > window / MOST_KEPT
    }
}

fn is_before(session: &Session, seq: u32, turn: u32) -> bool {
    session.log().events().get(seq as usize).is_none_or(|event| event.turn < turn)
}

/// Whether a message calls the recall tool.
fn asks(event: &Event) -> bool {
    event.view.blocks.iter().any(|block| match &block.kind {
        BlockKind::Call { name: Some(name), .. } => name.decode(&event.bytes) == RECALL_TOOL,
        _ => false,
    })
}
