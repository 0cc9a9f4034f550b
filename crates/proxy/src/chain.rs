//! The chain of a history, by which its conversation is found. Each link is a hash of the identity of a message and of
//! the link before it, so that one link names all messages up to it.

use bytes::Bytes;
use midfold_core::{Hash, Role};
use midfold_formats::DialectKind;
use midfold_formats::request::identity;

use super::identities::MessageIdentities;

/// The chain of a history.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// The chained hash of each message, which names all messages up to it.
    pub links: Vec<Hash>,
    /// The identity of each message by itself.
    pub identities: Vec<Hash>,
    /// How many messages are before the model's first one. No conversation is found by these: many conversations begin
    /// with the same instructions or the same task.
    pub opening: usize,
}

impl Chain {
    /// Makes the chain of these messages. `known` has the identities that are already computed, in the same order.
    pub fn of(
        root: Hash,
        kind: DialectKind,
        messages: &[Bytes],
        known: impl IntoIterator<Item = Option<Hash>>,
    ) -> Self {
        let known = known.into_iter().chain(std::iter::repeat(None));
        let role = |message: &Bytes| kind.dialect().view(message).role;
        let opening = messages.iter().map(role).take_while(|role| *role != Role::Assistant);
        let opening: Vec<_> = opening.collect();
        let instructions = opening.iter().take_while(|role| role.is_system()).count();
        let identities: Vec<_> = messages
            .iter()
            .zip(known)
            .enumerate()
            .map(|(at, (message, known))| {
                // System messages at the front count as one fixed identity. Clients may change them with each request,
                // for example a clock in them, and that is still the same conversation.
                match at < instructions {
                    true => Hash::ROOT,
                    false => known.unwrap_or_else(|| identity(kind, message)),
                }
            })
            .collect();
        let link = |before: &mut Hash, identity: &Hash| {
            *before = before.chain(&identity.0);
            Some(*before)
        };
        let links = identities.iter().scan(root, link).collect();
        Self { links, identities, opening: opening.len() }
    }
}

impl Chain {
    /// The link that names the messages before the model's first one; `None` if the model's message is the first.
    pub fn begins_with(&self) -> Option<Hash> {
        self.links.get(self.opening.checked_sub(1)?).copied()
    }
}

/// The identities that are already known, in the order of the messages.
pub(super) fn known(identities: &MessageIdentities, messages: &[Bytes]) -> Vec<Option<Hash>> {
    messages.iter().map(|message| identities.get(message)).collect()
}
