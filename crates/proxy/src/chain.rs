//! By what a history is found: the identity of each message, chained, so that each link names all before
//! it, and whose they are.

use bytes::Bytes;
use midfold_core::{Hash, Role};
use midfold_formats::DialectKind;
use midfold_formats::request::identity;

use super::identities::MessageIdentities;

/// The chain of a history.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// One for each message: it names all up to it.
    pub links: Vec<Hash>,
    /// What each message is by itself.
    pub identities: Vec<Hash>,
    /// How many messages are before the model's first one. By them no history is found: the same
    /// instructions, or the same task, are no common past.
    pub opening: usize,
}

impl Chain {
    /// The chain of these messages; `known` has the identities that are known already.
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
                // Instructions in front are the client's to change with each request, as those are that
                // some formats have beside the messages: a clock in them makes no other conversation.
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
    /// What names the messages before the model's first one; none where it has the first word.
    pub fn begins_with(&self) -> Option<Hash> {
        self.links.get(self.opening.checked_sub(1)?).copied()
    }
}

/// The identities of these messages, where they are known.
pub(super) fn known(identities: &MessageIdentities, messages: &[Bytes]) -> Vec<Option<Hash>> {
    messages.iter().map(|message| identities.get(message)).collect()
}
