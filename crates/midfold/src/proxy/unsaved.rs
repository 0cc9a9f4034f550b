//! The conversations that wait to be written.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::conversation::Conversation;

type Waiting = Arc<Mutex<Conversation>>;

/// The conversations that wait to be written, each once.
#[derive(Default)]
pub(super) struct Unsaved {
    waiting: VecDeque<Waiting>,
    /// One is being written: it waits until it is.
    is_writing: bool,
}

impl Unsaved {
    pub fn push(&mut self, conversation: &Waiting) {
        self.waiting.push_back(Arc::clone(conversation));
    }

    /// Somebody waits for this one to be written.
    pub fn hurry(&mut self, conversation: &Waiting) {
        let at = self.waiting.iter().position(|other| Arc::ptr_eq(other, conversation));
        if let Some(first) = at.and_then(|at| self.waiting.remove(at)) {
            self.waiting.push_front(first);
        }
    }

    /// The next one; it is being written from now on.
    pub fn begin(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.is_writing = true;
        Some(next)
    }

    /// The one that was being written was, or waits again.
    pub fn end(&mut self, again: Option<Waiting>) {
        self.is_writing = false;
        again.into_iter().for_each(|conversation| self.waiting.push_front(conversation));
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.is_writing)
    }
}
