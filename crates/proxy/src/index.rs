//! The conversations in memory, found by the chains of their messages.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, Weak};

use midfold_core::Hash;
use midfold_store::Millis;
use smallvec::SmallVec;

use super::chain::Chain;
use super::conversation::ProxyConversation;
use super::identities::{MessageIdentities, QuickKey};

/// Conversations that are held at most, however small they are.
const MOST: usize = 10_000;
/// The most conversations with one beginning that are distinguished by it.
const MOST_SHARED: usize = 16;

/// The conversations in memory. The one that was idle longest goes first.
pub(super) struct Index {
    /// Where each prefix of a conversation leads: to those that have it, the newest last.
    points: HashMap<Hash, SmallVec<[u64; 1]>>,
    identities: MessageIdentities,
    held: HashMap<u64, IndexEntry>,
    /// Who was used when: the first is the one that was idle longest.
    next: u64,
    bytes: usize,
    limit: usize,
    /// Conversations that were let go and are held by others still: they wait to be written, or for an answer.
    lingering: Vec<(Weak<Mutex<ProxyConversation>>, usize)>,
}

struct IndexEntry {
    conversation: Arc<Mutex<ProxyConversation>>,
    /// How many messages it has, and what its client calls it.
    length: usize,
    hint: Option<String>,
    /// All its points, to take them out again.
    points: Vec<Hash>,
    /// By what its messages are known.
    messages: Vec<QuickKey>,
    bytes: usize,
    used: Millis,
}

impl IndexEntry {
    /// Whether a request that has these messages in common, and no more, simply goes on with it.
    fn goes_on(&self, length: usize, hint: Option<&str>) -> bool {
        let other = self.hint.is_some() && hint.is_some() && self.hint.as_deref() != hint;
        self.length == length && !other
    }
}

impl Index {
    pub fn new(limit: usize) -> Self {
        let (points, held) = (HashMap::new(), HashMap::new());
        let (identities, lingering) = (MessageIdentities::default(), Vec::new());
        Self { points, identities, held, next: 0, bytes: 0, limit, lingering }
    }

    /// The conversation that a client goes on with, and how much of this chain it has. First choice: one that
    /// has all of it or ends where the client's request before did (`previous`), and is not another of its
    /// sessions. Else: the one that shares the longest beginning.
    pub fn find(
        &mut self,
        chain: &Chain,
        previous: usize,
        hint: Option<&str>,
        now: Millis,
    ) -> Option<(Arc<Mutex<ProxyConversation>>, usize)> {
        let links = &chain.links;
        let ends_at = |length: usize| {
            let last = length.checked_sub(1).filter(|last| *last >= chain.opening)?;
            let keys = links.get(last).and_then(|link| self.points.get(link))?;
            let goes_on =
                |key: &&u64| self.held.get(key).is_some_and(|it| it.goes_on(length, hint));
            keys.iter().rev().find(goes_on).map(|key| (*key, length))
        };
        let longest = || {
            let links = links.iter().enumerate().skip(chain.opening);
            links.rev().find_map(|(at, link)| {
                let keys = self.points.get(link)?;
                keys.iter().rev().find(|key| self.held.contains_key(key)).map(|key| (*key, at + 1))
            })
        };
        let (key, at) = ends_at(links.len()).or_else(|| ends_at(previous)).or_else(longest)?;
        let held = self.held.get_mut(&key)?;
        held.used = now;
        Some((Arc::clone(&held.conversation), at))
    }

    /// The messages of all conversations in memory.
    pub fn identities(&self) -> &MessageIdentities {
        &self.identities
    }

    /// Notes the chain of a conversation, of which `known` links are known already. `held` is what
    /// `conversation` holds: the caller has its lock.
    pub fn put(
        &mut self,
        conversation: &Arc<Mutex<ProxyConversation>>,
        held: &ProxyConversation,
        chain: &Chain,
        known: usize,
        now: Millis,
    ) {
        let ends = known.checked_sub(1).and_then(|at| self.points.get(&chain.links[at]));
        let same = |key: &u64| {
            self.held.get(key).is_some_and(|held| Arc::ptr_eq(&held.conversation, conversation))
        };
        let end = ends.and_then(|ends| ends.iter().copied().rev().find(same));
        let (key, known) = match end {
            Some(key) => (key, known),
            None => {
                self.next += 1;
                // A fork shares the beginning: that leads to whoever was there last.
                (self.next, 0)
            }
        };
        let links = &chain.links[known..];
        for link in links {
            let keys = self.points.entry(*link).or_default();
            if keys.len() >= MOST_SHARED {
                // Who has been there longest is found by what came after it.
                keys.remove(0);
            }
            keys.push(key);
        }
        let new = held.session.log().events()[known..].iter().zip(&chain.identities[known..]);
        let messages: Vec<_> = new
            .filter_map(|(event, identity)| self.identities.note(&event.bytes, *identity))
            .collect();
        let (bytes, hint) = (held.bytes(), held.hint().map(str::to_owned));
        let held = self.held.entry(key).or_insert_with(|| IndexEntry {
            conversation: Arc::clone(conversation),
            length: 0,
            hint: None,
            points: Vec::new(),
            messages: Vec::new(),
            bytes: 0,
            used: now,
        });
        held.points.extend(links);
        held.messages.extend(messages);
        (held.used, held.length, held.hint) = (now, chain.links.len(), hint);
        self.bytes = self.bytes - held.bytes + bytes;
        held.bytes = bytes;
        self.trim(key);
    }

    pub fn held(&self) -> (usize, usize) {
        (self.held.len(), self.bytes)
    }

    /// Whether the conversations that were let go take as much memory as those that are held may, and this history
    /// goes on with no held one. No conversation is to be begun then, until some of that memory is free.
    pub fn is_full_for(&mut self, chain: &Chain) -> bool {
        self.lingering.retain(|(gone, _)| gone.strong_count() > 0);
        let lingering: usize = self.lingering.iter().map(|(_, bytes)| bytes).sum();
        let mut past = chain.links.iter().skip(chain.opening);
        lingering > self.limit && !past.any(|link| self.points.contains_key(link))
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
                self.lingering.push((Arc::downgrade(&gone.conversation), gone.bytes));
                self.identities.forget(gone.messages);
                for point in gone.points {
                    if let Entry::Occupied(mut keys) = self.points.entry(point) {
                        keys.get_mut().retain(|it| *it != key);
                        if keys.get().is_empty() {
                            keys.remove();
                        }
                    }
                }
            }
        }
    }
}
