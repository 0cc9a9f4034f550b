//! Answers that wait to be written to a store. A later request may go on from one by its id.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_store::{AnswerHistory, StoreError};
use serde_json::value::RawValue;

use super::conversation::ProxyConversation;
use super::lock::lock;

/// A history with more bytes is not stored: only this process knows it then.
const LONGEST_REST: usize = 4 << 20;
/// The most bytes and the most answers that wait to be written. The oldest are dropped first, unwritten.
const MOST_BYTES: usize = 64 << 20;
const MOST: usize = 4_096;

/// The key of an answer: a hash of its id and of who may go on from it.
pub(super) fn key(scope: &str, answer: &str) -> Hash {
    Hash::ROOT.chain(scope.as_bytes()).chain(answer.as_bytes())
}

/// An answer that waits to be written, with the history that it ends.
pub(super) struct NotedAnswer {
    pub key: Hash,
    /// The conversation whose first messages are the start of this history, and how many of them are. `None` if the
    /// history belongs to no conversation.
    pub begins: Option<(Arc<Mutex<ProxyConversation>>, usize)>,
    /// The messages of the history behind those.
    pub rest: Vec<Bytes>,
}

impl NotedAnswer {
    fn bytes(&self) -> usize {
        self.rest.iter().map(Bytes::len).sum()
    }

    /// Whether its conversation is in the store under an id of its own.
    pub fn is_stored(&self) -> bool {
        self.begins.as_ref().is_some_and(|(conversation, _)| lock(conversation).saved.is_made)
    }

    /// The record to write now: only the messages that the conversation does not already have in the store. `None` if
    /// it is not to be written, because the store has another session under this id or the rest is too long.
    pub fn answer(&self) -> Result<Option<AnswerHistory>, StoreError> {
        self.behind(|conversation| match &conversation.parent {
            _ if conversation.saved.is_made => {
                Some((conversation.session.id().to_owned(), conversation.saved.parts.events))
            }
            // A fork that is not stored itself shares its first messages with its parent.
            Some((id, at)) => Some((id.clone(), *at as usize)),
            None => None,
        })
    }

    /// The record with all messages, for a fork whose parent is not in the store.
    pub fn whole_answer(&self) -> Result<Option<AnswerHistory>, StoreError> {
        self.behind(|_| None)
    }

    /// The record behind the messages of a session in the store: its id, and how many messages it has there.
    fn behind(
        &self,
        stored: impl FnOnce(&ProxyConversation) -> Option<(String, usize)>,
    ) -> Result<Option<AnswerHistory>, StoreError> {
        let Some((conversation, events)) = &self.begins else {
            return answer(None, 0, &self.rest);
        };
        let locked = lock(conversation);
        if locked.saved.is_foreign {
            return Ok(None);
        }
        let stored = stored(&locked);
        let from = stored.as_ref().map_or(0, |(_, stored)| *events.min(stored));
        let behind = &locked.session.log().events()[from..*events];
        let rest: Vec<_> = behind
            .iter()
            .map(|event| event.bytes.clone())
            .chain(self.rest.iter().cloned())
            .collect();
        answer(stored.map(|(id, _)| id), from, &rest)
    }
}

/// The record of an answer; `None` if the rest of its history is too long to store.
fn answer(
    session: Option<String>,
    events: usize,
    rest: &[Bytes],
) -> Result<Option<AnswerHistory>, StoreError> {
    if rest.iter().map(Bytes::len).sum::<usize>() > LONGEST_REST {
        return Ok(None);
    }
    let items: Vec<&RawValue> =
        rest.iter().map(|item| serde_json::from_slice(item)).collect::<Result<_, _>>()?;
    let rest = if items.is_empty() { Vec::new() } else { serde_json::to_vec(&items)? };
    Ok(Some(AnswerHistory { session, events: events as u64, rest: rest.into() }))
}

/// A queue of answers that wait to be written.
#[derive(Default)]
pub(super) struct UnwrittenAnswers {
    waiting: VecDeque<NotedAnswer>,
    bytes: usize,
}

impl UnwrittenAnswers {
    pub fn push(&mut self, noted: NotedAnswer) {
        self.bytes += noted.bytes();
        self.waiting.push_back(noted);
        while self.bytes > MOST_BYTES || self.waiting.len() > MOST {
            self.pop();
        }
    }

    /// Takes the oldest answer from the queue.
    pub fn pop(&mut self) -> Option<NotedAnswer> {
        let oldest = self.waiting.pop_front()?;
        self.bytes -= oldest.bytes();
        Some(oldest)
    }

    /// Puts an answer whose write failed back to the front.
    pub fn put_back(&mut self, noted: NotedAnswer) {
        self.bytes += noted.bytes();
        self.waiting.push_front(noted);
    }
}
