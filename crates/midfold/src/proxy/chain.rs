//! By what a history is found: the identity of each message, chained, so that each link names all before
//! it, and whose they are.

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::DialectKind;
use midfold_formats::request::identity;

use super::identities::Identities;

/// The chain of a history.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// One for each message: it names all up to it.
    pub links: Vec<Hash>,
    /// What each message is by itself.
    pub identities: Vec<Hash>,
}

impl Chain {
    /// The chain of these messages. What is known already is `known`.
    pub fn of(
        root: Hash,
        kind: DialectKind,
        messages: &[Bytes],
        known: impl IntoIterator<Item = Option<Hash>>,
    ) -> Self {
        let known = known.into_iter().chain(std::iter::repeat(None));
        let mut leads = true;
        let identities: Vec<_> = messages
            .iter()
            .zip(known)
            .map(|(message, known)| {
                leads = leads && kind.dialect().view(message).role.is_system();
                // Instructions in front are the client's to change with each request, as those are that
                // some formats have beside the messages: a clock in them makes no other conversation.
                if leads { Hash::ROOT } else { known.unwrap_or_else(|| identity(kind, message)) }
            })
            .collect();
        let link = |before: &mut Hash, identity: &Hash| {
            *before = before.chain(&identity.0);
            Some(*before)
        };
        let links = identities.iter().scan(root, link).collect();
        Self { links, identities }
    }
}

/// What is known of these messages.
pub(super) fn known(identities: &Identities, messages: &[Bytes]) -> Vec<Option<Hash>> {
    messages.iter().map(|message| identities.get(message)).collect()
}
