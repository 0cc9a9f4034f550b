//! Threads whose beginning only the provider has. There is no use in looking for their answers in a store.

use std::collections::{HashSet, VecDeque};

use midfold_core::Hash;

/// Answers that are remembered at most; the oldest go first.
const MOST: usize = 16_384;

/// The answers of such threads, by their keys.
#[derive(Default)]
pub(super) struct ProviderThreads {
    answers: HashSet<Hash>,
    order: VecDeque<Hash>,
}

impl ProviderThreads {
    /// Remembers an answer.
    pub fn note(&mut self, answer: Hash) {
        if self.answers.insert(answer) {
            self.order.push_back(answer);
        }
        while self.order.len() > MOST {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.answers.remove(&oldest));
        }
    }

    /// Whether an answer is of such a thread.
    pub fn has(&self, answer: Hash) -> bool {
        self.answers.contains(&answer)
    }
}
