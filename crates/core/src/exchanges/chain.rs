//! The chain of a client's history, and the place of an exchange in it.

use serde::{Deserialize, Serialize};

use crate::event::Hash;

/// The chain of a history as its client has it, up to one of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientChain(Hash);

/// The place of a hidden exchange: the chain up to and including the reply that the client has of it. Two histories
/// have the same place only if they have the same owner and the same contents up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExchangePlace(pub(super) Hash);

impl ClientChain {
    /// The chain before the first message. `owner` are the parts that tell whose history it is: its sender, the
    /// client's name for its session, its format.
    #[must_use]
    pub fn begin<'a>(owner: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self(owner.into_iter().fold(Hash::ROOT, Hash::chain))
    }

    /// The chain with the instructions in front of the first message. Clients write a clock or a number of the request
    /// into them, so words with a digit do not count.
    #[must_use]
    pub fn with_instructions(self, text: &[u8]) -> Self {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        let words = text.split(|byte| !is_word(byte));
        let mut letters = Vec::with_capacity(text.len());
        for word in words.filter(|word| !word.iter().any(u8::is_ascii_digit)) {
            letters.extend_from_slice(word);
            letters.push(b' ');
        }
        letters.dedup_by(|one, before| *one == b' ' && *before == b' ');
        Self(self.0.chain(&letters))
    }

    /// The chain behind one more message, whose normal form is given.
    #[must_use]
    pub(super) fn behind(self, form: &[u8]) -> Self {
        Self(self.0.chain(form))
    }

    /// The place at the end of this chain.
    #[must_use]
    pub fn place(self) -> ExchangePlace {
        ExchangePlace(self.0)
    }

    /// The hash that a record keeps.
    #[must_use]
    pub fn hash(self) -> Hash {
        self.0
    }

    /// The chain that a record kept.
    #[must_use]
    pub fn from_record(hash: Hash) -> Self {
        Self(hash)
    }
}

impl ExchangePlace {
    /// The hash over several places in order.
    #[must_use]
    pub fn all(places: impl IntoIterator<Item = Self>) -> Hash {
        places.into_iter().fold(Hash::ROOT, |hash, place| hash.chain(&place.0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::ClientChain;

    #[test]
    fn a_clock_in_instructions_does_not_count_and_their_words_do() {
        let root = ClientChain::begin([&b"key"[..]]);
        let of = |text: &str| root.with_instructions(text.as_bytes());
        let plain = of("You work for ALPHA. It is 12:04 on 2026-11-28, request a81f.");
        assert_eq!(plain, of("You work for ALPHA. It is 12:05 on 2026-11-29, request b20e."));
        assert_ne!(plain, of("You work for BETA. It is 12:04 on 2026-11-28, request a81f."));
        assert_ne!(root, ClientChain::begin([&b"other"[..]]));
        assert_ne!(ClientChain::begin([&b"a"[..], b"b"]), ClientChain::begin([&b"ab"[..]]));
    }
}
