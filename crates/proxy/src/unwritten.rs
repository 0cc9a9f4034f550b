//! The conversations that wait to be written.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::conversation::ProxyConversation;

type WaitingConversation = Arc<Mutex<ProxyConversation>>;

/// A queue of conversations to write, each at most once.
#[derive(Default)]
pub(super) struct UnsavedConversations {
    waiting: VecDeque<WaitingConversation>,
    /// Whether one is being written, which counts as waiting until that is done.
    is_writing: bool,
}

impl UnsavedConversations {
    pub fn push(&mut self, conversation: &WaitingConversation) {
        self.waiting.push_back(Arc::clone(conversation));
    }

    /// Moves a conversation to the front, because somebody waits for it.
    pub fn hurry(&mut self, conversation: &WaitingConversation) {
        let at = self.waiting.iter().position(|other| Arc::ptr_eq(other, conversation));
        if let Some(first) = at.and_then(|at| self.waiting.remove(at)) {
            self.waiting.push_front(first);
        }
    }

    /// Takes the next conversation, which is being written from now on.
    pub fn begin(&mut self) -> Option<WaitingConversation> {
        let next = self.waiting.pop_front()?;
        self.is_writing = true;
        Some(next)
    }

    /// Ends a write. `again` is the conversation if the write failed; it waits at the front then.
    pub fn end(&mut self, again: Option<WaitingConversation>) {
        self.is_writing = false;
        again.into_iter().for_each(|conversation| self.waiting.push_front(conversation));
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.is_writing)
    }
}
