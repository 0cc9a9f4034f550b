//! The last step of a conversation: what its client sent behind the history, and the answer. Both become history with the
//! client's next request. Where the client has ended there is no such request, and the step is appended as it was.

use bytes::Bytes;
use midfold_formats::DialectKind;

use super::conversation::ProxyConversation;
use super::lock::lock;
use super::shared::Proxy;
use super::turn::MatchedRequest;

/// The newest messages of a conversation, from its last complete answer.
pub(super) struct LastStep {
    /// The shape of its messages.
    pub kind: DialectKind,
    /// How many messages the history before it has.
    pub events: usize,
    /// What the client sent behind the history, and the answer.
    pub messages: Vec<Bytes>,
}

impl Proxy {
    /// Appends the last step of each conversation, which is kept by [`ProxyRules::with_last_steps`]. Call it when no more
    /// requests come, and save afterwards: a client that goes on with other messages would begin a branch.
    ///
    /// [`ProxyRules::with_last_steps`]: crate::ProxyRules::with_last_steps
    pub fn append_last_steps(&self) {
        let held = lock(&self.index).conversations();
        for conversation in held {
            if lock(&conversation).append_last_step() {
                self.queue(&conversation);
            }
        }
    }

    /// Notes the last step of a conversation, which the caller has locked.
    pub(super) fn note_step(
        held: &mut ProxyConversation,
        kind: DialectKind,
        sent: Vec<Bytes>,
        output: &[Bytes],
    ) {
        // Copied, because a slice would keep the whole answer in memory.
        let answer = output.iter().map(|item| Bytes::copy_from_slice(item));
        let messages = sent.into_iter().chain(answer).collect();
        held.last_step = Some(LastStep { kind, events: held.session.log().len(), messages });
    }
}

impl MatchedRequest {
    /// Whether its answer has to be read because it may be the last one of its conversation.
    #[must_use]
    pub fn keeps_step(&self) -> bool {
        self.proxy.keeps_steps && self.place.as_ref().is_some_and(|place| !place.is_aside)
    }

    /// The messages behind the history, if they may belong to the last step.
    pub(super) fn step(&self) -> Option<Vec<Bytes>> {
        let place = self.place.as_ref().filter(|_| self.keeps_step())?;
        let behind = place.newest.history_len()..self.request.len();
        // Copied, because a slice would keep the whole request in memory.
        Some(behind.map(|at| Bytes::copy_from_slice(&self.request.message(at))).collect())
    }
}
