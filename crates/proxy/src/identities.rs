//! The identities of messages that are known. A request brings its whole history each time.
//! For a request that fits, working out all identities would cost more than all other work.

use std::hash::BuildHasher;

use bytes::Bytes;
use hashbrown::HashMap;
use midfold_core::Hash;
use rustc_hash::FxBuildHasher;

/// What messages are found by: quick, and no proof.
pub(super) type QuickKey = u64;

/// Identities of the messages that conversations in memory have.
#[derive(Default)]
pub struct MessageIdentities {
    /// The known messages, by the key that finds them.
    pub known: HashMap<QuickKey, KnownMessage, FxBuildHasher>,
    /// Where the message is that begins so: the one that was noted last.
    pub starts: HashMap<QuickKey, QuickKey, FxBuildHasher>,
}

/// Bytes of a message that it is looked up by before it is known where it ends. The ids of calls are in them;
/// a shorter message is walked as quickly.
const START: usize = 96;

/// A known message.
pub struct KnownMessage {
    /// The message itself, which the log of a conversation holds as well: the proof.
    message: Bytes,
    identity: Hash,
    /// Conversations that have it.
    uses: u32,
}

/// By what a message is found.
pub(super) fn key(message: &[u8]) -> QuickKey {
    FxBuildHasher.hash_one(message)
}

/// By what a message is found before it is known where it ends. Only an object tells that by itself.
fn start(message: &[u8]) -> Option<QuickKey> {
    message.get(..START).filter(|start| start[0] == b'{').map(key)
}

impl MessageIdentities {
    /// The identity of a message, where the very same bytes are known.
    pub fn get(&self, message: &[u8]) -> Option<Hash> {
        self.known.get(&key(message)).filter(|it| it.message == message).map(|it| it.identity)
    }

    /// How long the message is that this text starts with, where the very same bytes are known.
    pub fn length(&self, text: &[u8]) -> Option<usize> {
        let start = self.starts.get(&key(text.get(..START)?))?;
        let message = &self.known.get(start)?.message;
        text.starts_with(message).then_some(message.len())
    }

    /// Notes a message of a conversation. Returns by what it is let go again; nothing where another
    /// message has its place.
    pub fn note(&mut self, message: &Bytes, identity: Hash) -> Option<QuickKey> {
        let key = key(message);
        let known = self.known.entry(key).or_insert_with(|| KnownMessage {
            message: message.clone(),
            identity,
            uses: 0,
        });
        known.uses += 1;
        if known.message == *message {
            if let Some(start) = start(message) {
                self.starts.insert(start, key);
            }
            return Some(key);
        }
        known.uses -= 1;
        None
    }

    /// A conversation does not have these messages any more.
    pub fn forget(&mut self, keys: impl IntoIterator<Item = QuickKey>) {
        for key in keys {
            if let Some(known) = self.known.get_mut(&key) {
                known.uses -= 1;
                if known.uses == 0 {
                    let begins = start(&known.message);
                    self.known.remove(&key);
                    if let Some(start) = begins.filter(|it| self.starts.get(it) == Some(&key)) {
                        self.starts.remove(&start);
                    }
                }
            }
        }
    }
}
