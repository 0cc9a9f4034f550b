//! The conversations in memory, found by the chains of their messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use midfold_core::Hash;
use midfold_store::Millis;

use super::chain::Chain;
use super::conversation::Conversation;
use super::identities::{Identities, Key};

/// Conversations that are held at most, however small they are.
const MOST: usize = 10_000;

/// The conversations in memory. The one that was idle longest goes first.
pub(super) struct Index {
    /// Where each prefix of a conversation leads: to the conversation that had it last.
    points: HashMap<Hash, u64>,
    identities: Identities,
    held: HashMap<u64, Held>,
    /// Who was used when: the first is the one that was idle longest.
    next: u64,
    bytes: usize,
    limit: usize,
}

struct Held {
    conversation: Arc<Mutex<Conversation>>,
    /// All its points, to take them out again.
    points: Vec<Hash>,
    /// By what its messages are known.
    messages: Vec<Key>,
    bytes: usize,
    used: Millis,
}

impl Index {
    pub fn new(limit: usize) -> Self {
        let (points, held) = (HashMap::new(), HashMap::new());
        Self { points, identities: Identities::default(), held, next: 0, bytes: 0, limit }
    }

    /// The conversation that shares the longest beginning with this chain, and how long it is.
    pub fn find(
        &mut self,
        chain: &[Hash],
        now: Millis,
    ) -> Option<(Arc<Mutex<Conversation>>, usize)> {
        for (at, link) in chain.iter().enumerate().rev() {
            if let Some(key) = self.points.get(link)
                && let Some(held) = self.held.get_mut(key)
            {
                held.used = now;
                return Some((Arc::clone(&held.conversation), at + 1));
            }
        }
        None
    }

    /// The messages of all conversations in memory.
    pub fn identities(&self) -> &Identities {
        &self.identities
    }

    /// Notes the chain of a conversation, of which `known` links are known already. `held` is what
    /// `conversation` holds: the caller has its lock.
    pub fn put(
        &mut self,
        conversation: &Arc<Mutex<Conversation>>,
        held: &Conversation,
        chain: &Chain,
        known: usize,
        now: Millis,
    ) {
        let end = known.checked_sub(1).and_then(|at| self.points.get(&chain.links[at])).copied();
        let same = |key: &u64| {
            self.held.get(key).is_some_and(|held| Arc::ptr_eq(&held.conversation, conversation))
        };
        let (key, known) = match end.filter(same) {
            Some(key) => (key, known),
            None => {
                self.next += 1;
                // A fork shares the beginning: that leads to whoever was there last.
                (self.next, 0)
            }
        };
        let links = &chain.links[known..];
        self.points.extend(links.iter().map(|link| (*link, key)));
        let new = held.session.log().events()[known..].iter().zip(&chain.identities[known..]);
        let messages: Vec<_> = new
            .filter_map(|(event, identity)| self.identities.note(&event.bytes, *identity))
            .collect();
        let bytes = held.bytes();
        let held = self.held.entry(key).or_insert_with(|| Held {
            conversation: Arc::clone(conversation),
            points: Vec::new(),
            messages: Vec::new(),
            bytes: 0,
            used: now,
        });
        held.points.extend(links);
        held.messages.extend(messages);
        held.used = now;
        self.bytes = self.bytes - held.bytes + bytes;
        held.bytes = bytes;
        self.trim(key);
    }

    pub fn held(&self) -> (usize, usize) {
        (self.held.len(), self.bytes)
    }

    fn trim(&mut self, newest: u64) {
        while self.bytes > self.limit || self.held.len() > MOST {
            let others = self.held.iter().filter(|(key, _)| **key != newest);
            let Some(key) =
                others.min_by_key(|(key, held)| (held.used, **key)).map(|(key, _)| *key)
            else {
                return;
            };
            if let Some(gone) = self.held.remove(&key) {
                self.bytes -= gone.bytes;
                self.identities.forget(gone.messages);
                for point in gone.points {
                    if self.points.get(&point) == Some(&key) {
                        self.points.remove(&point);
                    }
                }
            }
        }
    }
}
