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

/// The most conversations that are held, however small they are.
const MOST: usize = 10_000;
/// If more conversations share a beginning, only the newest of them are found by it.
const MOST_SHARED: usize = 16;

/// The conversations in memory. The one that was idle for longest is dropped first.
pub(super) struct Index {
    /// For each link, the conversations whose history has it, the newest last.
    points: HashMap<Hash, SmallVec<[u64; 1]>>,
    identities: MessageIdentities,
    entries: HashMap<u64, IndexEntry>,
    /// The key that was given last. Keys rise, so of two conversations the one with the smaller key is older.
    next: u64,
    bytes: usize,
    limit: usize,
    /// Dropped conversations that are still in use, because they wait to be written or for an answer, with their bytes
    /// of memory.
    lingering: Vec<(Weak<Mutex<ProxyConversation>>, usize)>,
}

struct IndexEntry {
    conversation: Arc<Mutex<ProxyConversation>>,
    /// The number of its messages.
    length: usize,
    /// The client's name for the session, and whether the conversation went on under it.
    hint: Option<(String, bool)>,
    /// All links under which it is found, to remove them with it.
    points: Vec<Hash>,
    /// The keys of its messages in the cache of identities.
    messages: Vec<QuickKey>,
    bytes: usize,
    used: Millis,
}

impl IndexEntry {
    /// Whether a request that shares exactly `length` messages simply continues it under this name.
    fn goes_on(&self, length: usize, hint: Option<&str>) -> bool {
        let is_other = |(own, _): &(String, bool)| hint.is_some_and(|hint| own != hint);
        self.length == length && !self.hint.as_ref().is_some_and(is_other)
    }

    /// Whether a request with more than these messages continues it under any name.
    fn is_unnamed(&self, length: usize) -> bool {
        self.length == length && self.hint.as_ref().is_some_and(|(_, is_named)| !is_named)
    }
}

impl Index {
    pub fn new(limit: usize) -> Self {
        let (points, entries) = (HashMap::new(), HashMap::new());
        let (identities, lingering) = (MessageIdentities::default(), Vec::new());
        Self { points, identities, entries, next: 0, bytes: 0, limit, lingering }
    }

    /// Finds the conversation that a client continues, and how many messages of the chain it has. Preferred is one of
    /// the same client session that has the whole chain, or that ends where the client's request before did
    /// (`previous`) and was used later. Otherwise the conversation with the longest common beginning is taken. `None` if no link is known.
    pub fn find(
        &mut self,
        chain: &Chain,
        previous: usize,
        hint: Option<&str>,
        now: Millis,
    ) -> Option<(Arc<Mutex<ProxyConversation>>, usize)> {
        let links = &chain.links;
        let keys_at = |length: usize| {
            let last = length.checked_sub(1).filter(|last| *last >= chain.opening)?;
            links.get(last).and_then(|link| self.points.get(link))
        };
        let is = |key: &u64, wanted: &dyn Fn(&IndexEntry) -> bool| {
            self.entries.get(key).is_some_and(wanted)
        };
        let ends_at = |length: usize| {
            let mut keys = keys_at(length)?.iter().rev();
            let key = keys.find(|key| is(key, &|entry| entry.goes_on(length, hint)))?;
            Some((*key, length))
        };
        // The oldest, because a request that was sent twice under two names made the newer one.
        let unnamed_at = |length: usize| {
            let key =
                keys_at(length)?.iter().find(|key| is(key, &|entry| entry.is_unnamed(length)))?;
            Some((*key, length))
        };
        let longest = || {
            let links = links.iter().enumerate().skip(chain.opening);
            links.rev().find_map(|(at, link)| {
                let keys = self.points.get(link)?;
                keys.iter()
                    .rev()
                    .find(|key| self.entries.contains_key(key))
                    .map(|key| (*key, at + 1))
            })
        };
        let used = |hit: &(u64, usize)| self.entries.get(&hit.0).map(|entry| entry.used);
        let ends = match (ends_at(links.len()), ends_at(previous)) {
            // The same task was done before with the same answers: the client goes on with what it used last.
            (Some(whole), Some(before)) if used(&before) > used(&whole) => Some(before),
            (whole, before) => whole.or(before),
        };
        let (key, at) = ends.or_else(|| {
            let longest = longest();
            // A repeated request under another name goes on with no other one.
            let is_repeated = longest.is_some_and(|(_, at)| at == links.len());
            if is_repeated { longest } else { unnamed_at(previous).or(longest) }
        })?;
        let entry = self.entries.get_mut(&key)?;
        entry.used = now;
        Some((Arc::clone(&entry.conversation), at))
    }

    /// The identities of the messages of all conversations in memory.
    pub fn identities(&self) -> &MessageIdentities {
        &self.identities
    }

    /// Notes the chain of a conversation whose first `known` links are noted already. `locked` is the content of
    /// `conversation`, which the caller has locked.
    pub fn put(
        &mut self,
        conversation: &Arc<Mutex<ProxyConversation>>,
        locked: &ProxyConversation,
        chain: &Chain,
        known: usize,
        now: Millis,
    ) {
        let ends = known.checked_sub(1).and_then(|at| self.points.get(&chain.links[at]));
        let same = |key: &u64| {
            self.entries
                .get(key)
                .is_some_and(|entry| Arc::ptr_eq(&entry.conversation, conversation))
        };
        let end = ends.and_then(|ends| ends.iter().copied().rev().find(same));
        let (key, known) = match end {
            Some(key) => (key, known),
            None => {
                self.next += 1;
                // A fork shares its beginning with another conversation, so all of its links are noted again, under its
                // own key.
                (self.next, 0)
            }
        };
        let links = &chain.links[known..];
        for link in links {
            let keys = self.points.entry(*link).or_default();
            if keys.len() >= MOST_SHARED {
                // The oldest conversation is still found by its later links.
                keys.remove(0);
            }
            keys.push(key);
        }
        let new = locked.session.log().events()[known..].iter().zip(&chain.identities[known..]);
        let messages: Vec<_> = new
            .filter_map(|(event, identity)| self.identities.note(&event.bytes, *identity))
            .collect();
        let bytes = locked.bytes();
        let hint = locked.hint().map(|(hint, is_named)| (hint.to_owned(), is_named));
        let entry = self.entries.entry(key).or_insert_with(|| IndexEntry {
            conversation: Arc::clone(conversation),
            length: 0,
            hint: None,
            points: Vec::new(),
            messages: Vec::new(),
            bytes: 0,
            used: now,
        });
        entry.points.extend(links);
        entry.messages.extend(messages);
        (entry.used, entry.length, entry.hint) = (now, chain.links.len(), hint);
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
        self.trim(key);
    }

    /// All conversations in memory.
    pub fn conversations(&self) -> Vec<Arc<Mutex<ProxyConversation>>> {
        self.entries.values().map(|entry| Arc::clone(&entry.conversation)).collect()
    }

    pub fn extent(&self) -> (usize, usize) {
        (self.entries.len(), self.bytes)
    }

    /// Whether the memory is full for this history: dropped conversations that are still in use take more bytes than
    /// the limit, and the history continues no held one. No new conversation should begin until some of that memory is
    /// free.
    pub fn is_full_for(&mut self, chain: &Chain) -> bool {
        self.lingering.retain(|(weak, _)| weak.strong_count() > 0);
        let lingering: usize = self.lingering.iter().map(|(_, bytes)| bytes).sum();
        let mut past = chain.links.iter().skip(chain.opening);
        lingering > self.limit && !past.any(|link| self.points.contains_key(link))
    }

    /// Drops the conversations that were idle for longest until the limits hold. The `newest` one always stays, because
    /// a request is using it.
    fn trim(&mut self, newest: u64) {
        while self.bytes > self.limit || self.entries.len() > MOST {
            let others = self.entries.iter().filter(|(key, _)| **key != newest);
            let Some(key) =
                // Of conversations that were used in the same millisecond, the one that began first goes.
                others.min_by_key(|(key, entry)| (entry.used, **key)).map(|(key, _)| *key)
            else {
                return;
            };
            if let Some(oldest) = self.entries.remove(&key) {
                self.bytes -= oldest.bytes;
                self.lingering.push((Arc::downgrade(&oldest.conversation), oldest.bytes));
                self.identities.forget(oldest.messages);
                for point in oldest.points {
                    if let Entry::Occupied(mut keys) = self.points.entry(point) {
                        keys.get_mut().retain(|other| *other != key);
                        if keys.get().is_empty() {
                            keys.remove();
                        }
                    }
                }
            }
        }
    }
}
