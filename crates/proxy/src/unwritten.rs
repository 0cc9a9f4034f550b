//! The conversations that wait to be written.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::conversation::ProxyConversation;

type WaitingConversation = Arc<Mutex<ProxyConversation>>;

/// The conversations that wait to be written, each once.
#[derive(Default)]
pub(super) struct UnsavedConversations {
    waiting: VecDeque<WaitingConversation>,
    /// One is being written: it waits until it is.
    is_writing: bool,
}

impl UnsavedConversations {
    pub fn push(&mut self, conversation: &WaitingConversation) {
        self.waiting.push_back(Arc::clone(conversation));
    }

    /// Somebody waits for this one to be written.
    pub fn hurry(&mut self, conversation: &WaitingConversation) {
        let at = self.waiting.iter().position(|other| Arc::ptr_eq(other, conversation));
        if let Some(first) = at.and_then(|at| self.waiting.remove(at)) {
            self.waiting.push_front(first);
        }
    }

    /// The next one; it is being written from now on.
    pub fn begin(&mut self) -> Option<WaitingConversation> {
        let next = self.waiting.pop_front()?;
        self.is_writing = true;
        Some(next)
    }

    /// The one that was being written was, or waits again.
    pub fn end(&mut self, again: Option<WaitingConversation>) {
        self.is_writing = false;
        again.into_iter().for_each(|conversation| self.waiting.push_front(conversation));
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.is_writing)
    }
}
