//! The identities of messages that are known: a request brings its whole history each time, and working
//! out what all of it is would cost more than all else that is done for a request that fits.

use std::hash::BuildHasher;

use bytes::Bytes;
use hashbrown::HashMap;
use midfold_core::Hash;
use rustc_hash::FxBuildHasher;

/// What messages are found by: quick, and no proof.
pub(super) type Key = u64;

/// Identities of the messages that conversations in memory have.
#[derive(Default)]
pub(super) struct Identities {
    known: HashMap<Key, Known, FxBuildHasher>,
    /// Where the message is that begins so: the one that was noted last.
    starts: HashMap<Key, Key, FxBuildHasher>,
}

/// Bytes of a message that it is looked up by before it is known where it ends. The ids of calls are in them;
/// a shorter message is walked as quickly.
const START: usize = 96;

struct Known {
    /// The message itself, which the log of a conversation holds as well: the proof.
    message: Bytes,
    identity: Hash,
    /// Conversations that have it.
    uses: u32,
}

/// By what a message is found.
pub(super) fn key(message: &[u8]) -> Key {
    FxBuildHasher.hash_one(message)
}

/// By what a message is found before it is known where it ends. Only an object tells that by itself.
fn start(message: &[u8]) -> Option<Key> {
    message.get(..START).filter(|start| start[0] == b'{').map(key)
}

impl Identities {
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
    pub fn note(&mut self, message: &Bytes, identity: Hash) -> Option<Key> {
        let key = key(message);
        let known = self.known.entry(key).or_insert_with(|| Known {
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
    pub fn forget(&mut self, keys: impl IntoIterator<Item = Key>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_as_long_as_somebody_has_it() {
        let mut known = Identities::default();
        let message = Bytes::from_static(b"{\"role\":\"user\"}");
        let keys: Vec<_> = [1, 2].iter().filter_map(|_| known.note(&message, Hash::ROOT)).collect();
        assert_eq!(known.get(&message), Some(Hash::ROOT));
        assert_eq!(known.get(b"{\"role\":\"tool\"}"), None);
        known.forget([keys[0]]);
        assert_eq!(known.get(&message), Some(Hash::ROOT));
        known.forget([keys[1]]);
        assert_eq!(known.get(&message), None);
        assert!(known.known.is_empty());
    }

    #[test]
    fn a_message_is_known_by_its_start_and_ends_where_it_ends() {
        let mut known = Identities::default();
        let of = |end: &str| Bytes::from(format!("{{\"content\":\"{}{end}\"}}", "a".repeat(100)));
        let (message, other) = (of("b"), of("c"));
        let key = known.note(&message, Hash::ROOT).unwrap();
        let text = |message: &Bytes| [&message[..], b",{}]}"].concat();
        assert_eq!(known.length(&text(&message)), Some(message.len()));
        assert_eq!(known.length(&text(&other)), None);
        assert_eq!(known.length(&message[..50]), None);
        // A number goes on where its text does.
        let number = Bytes::from("1".repeat(200));
        known.note(&number, Hash::ROOT).unwrap();
        assert_eq!(known.length(&[&number[..], b"1"].concat()), None);
        known.forget([key]);
        assert_eq!(known.length(&text(&message)), None);
        assert!(known.starts.is_empty());
    }
}
