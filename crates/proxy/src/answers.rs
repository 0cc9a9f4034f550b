//! The answers that wait to be written, for requests that name them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_store::{AnswerHistory, StoreError};
use serde_json::value::RawValue;

use super::conversation::ProxyConversation;
use super::lock::lock;

/// Bytes of a history that may be stored beside its session. One that is longer is known to this process alone.
const LONGEST_REST: usize = 4 << 20;
/// Bytes of the answers that wait to be written at most, and how many they are; the oldest go first.
const MOST_BYTES: usize = 64 << 20;
const MOST: usize = 4_096;

/// By what an answer is found, of whoever may go on from it.
pub(super) fn key(scope: &str, answer: &str) -> Hash {
    Hash::ROOT.chain(scope.as_bytes()).chain(answer.as_bytes())
}

/// An answer that waits to be written.
pub(super) struct NotedAnswer {
    pub key: Hash,
    /// The conversation that its history begins with, and how many of the messages are of it.
    pub begins: Option<(Arc<Mutex<ProxyConversation>>, usize)>,
    /// The messages behind them.
    pub rest: Vec<Bytes>,
}

impl NotedAnswer {
    fn bytes(&self) -> usize {
        self.rest.iter().map(Bytes::len).sum()
    }

    /// The answer to write now. `None` where the store has another session in the place of this one.
    pub fn answer(&self) -> Result<Option<AnswerHistory>, StoreError> {
        let Some((conversation, events)) = &self.begins else {
            return answer(None, 0, &self.rest);
        };
        let held = lock(conversation);
        if held.saved.is_foreign {
            return Ok(None);
        }
        let own = || (held.session.id().to_owned(), held.saved.events);
        let parent = || held.parent.as_ref().map(|(id, at)| (id.clone(), *at as usize));
        let stored = if held.saved.is_made { Some(own()) } else { parent() };
        let from = stored.as_ref().map_or(0, |(_, stored)| *events.min(stored));
        let behind = &held.session.log().events()[from..*events];
        let rest: Vec<_> =
            behind.iter().map(|it| it.bytes.clone()).chain(self.rest.iter().cloned()).collect();
        answer(stored.map(|(id, _)| id), from, &rest)
    }
}

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

/// The answers that wait to be written.
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

    /// The next one to write.
    pub fn pop(&mut self) -> Option<NotedAnswer> {
        let oldest = self.waiting.pop_front()?;
        self.bytes -= oldest.bytes();
        Some(oldest)
    }

    /// It could not be written: it is the next one.
    pub fn again(&mut self, noted: NotedAnswer) {
        self.bytes += noted.bytes();
        self.waiting.push_front(noted);
    }
}
