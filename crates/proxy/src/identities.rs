//! A cache of the identities of messages. A request brings its whole history each time. Computing all identities again
//! would cost more than the rest of the work on a request that fits.

use std::hash::BuildHasher;

use bytes::Bytes;
use hashbrown::HashMap;
use midfold_core::Hash;
use rustc_hash::FxBuildHasher;

/// A fast hash by which a message is found. It proves nothing; the bytes are compared afterwards.
pub(super) type QuickKey = u64;

/// The identities of the messages of all conversations in memory.
#[derive(Default)]
pub struct MessageIdentities {
    /// The known messages by their key.
    pub known: HashMap<QuickKey, KnownMessage, FxBuildHasher>,
    /// By the key of a message's first bytes, the key of the newest message that starts with them.
    pub starts: HashMap<QuickKey, QuickKey, FxBuildHasher>,
}

/// The number of first bytes by which a message is found in a request whose end is not known yet. They include the ids
/// of calls, by which messages of the same form differ. A shorter message can be parsed as quickly.
const START: usize = 96;

/// A known message.
pub struct KnownMessage {
    /// The bytes, shared with the log of a conversation. Comparing them proves that a message is this one.
    message: Bytes,
    identity: Hash,
    /// How many conversations have the message.
    uses: u32,
}

/// The key of a message.
pub(super) fn key(message: &[u8]) -> QuickKey {
    FxBuildHasher.hash_one(message)
}

/// The key of a message's first bytes. Only for an object: its bytes show where it ends.
fn start(message: &[u8]) -> Option<QuickKey> {
    message.get(..START).filter(|start| start[0] == b'{').map(key)
}

impl MessageIdentities {
    /// The identity of a message; `None` if exactly these bytes are not known.
    pub fn get(&self, message: &[u8]) -> Option<Hash> {
        self.known
            .get(&key(message))
            .filter(|entry| entry.message == message)
            .map(|entry| entry.identity)
    }

    /// The length in bytes of the known message that this text starts with; `None` if it starts with none.
    pub fn length(&self, text: &[u8]) -> Option<usize> {
        let start = self.starts.get(&key(text.get(..START)?))?;
        let message = &self.known.get(start)?.message;
        text.starts_with(message).then_some(message.len())
    }

    /// Notes a message of a conversation. Returns the key for [`Self::forget`]; `None` if another message has the same
    /// key, which then stays.
    pub fn note(&mut self, message: &Bytes, identity: Hash) -> Option<QuickKey> {
        let key = key(message);
        let known = self.known.entry(key).or_insert_with(|| KnownMessage {
            message: message.clone(),
            identity,
            uses: 0,
        });
        known.uses += 1;
        // If another message with the same key is noted already, it stays, and this one is not noted.
        if known.message == *message {
            if let Some(start) = start(message) {
                self.starts.insert(start, key);
            }
            return Some(key);
        }
        known.uses -= 1;
        None
    }

    /// Forgets messages that a conversation had, when no other conversation has them.
    pub fn forget(&mut self, keys: impl IntoIterator<Item = QuickKey>) {
        for key in keys {
            if let Some(known) = self.known.get_mut(&key) {
                known.uses -= 1;
                if known.uses == 0 {
                    let begins = start(&known.message);
                    self.known.remove(&key);
                    if let Some(start) =
                        begins.filter(|text_start| self.starts.get(text_start) == Some(&key))
                    {
                        self.starts.remove(&start);
                    }
                }
            }
        }
    }
}
