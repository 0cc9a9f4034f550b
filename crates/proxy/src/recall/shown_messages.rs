//! The part of the model's replies that every client keeps: the words, and the ids of its own calls. Clients drop
//! reasoning, change the spelling of JSON, and do not know hidden calls.

use bytes::Bytes;
use midfold_core::view::BlockKind;
use midfold_core::{Hash, Role};
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{OwnTool, may_be_models};

/// A message, reduced to what its client keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShownMessage {
    /// It is not a message of the model.
    Others,
    /// It is a message of the model that a client may leave out: only reasoning or hidden calls, or empty.
    Silent,
    /// It is a message of the model with words or calls.
    Said(ShownReply),
}

/// The words of a reply without white space, and the ids of its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownReply {
    words: Vec<u8>,
    calls: Vec<u8>,
}

impl ShownReply {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.calls.is_empty()
    }

    /// The link that follows `link` in a chain.
    pub fn behind(&self, link: Hash) -> Hash {
        link.chain(&self.words).chain(&self.calls)
    }
}

/// Reduces a message to what a client keeps of it.
pub(super) fn shown(kind: DialectKind, message: &Bytes) -> ShownMessage {
    // A cheap test first: most of a history is output of tools.
    if !may_be_models(kind, message) {
        return ShownMessage::Others;
    }
    let view = kind.dialect().view(message);
    if view.role != Role::Assistant {
        return ShownMessage::Others;
    }
    let mut said = ShownReply::default();
    for block in &view.blocks {
        match &block.kind {
            BlockKind::Text | BlockKind::Refusal => {
                let text = block.text(message);
                said.words.extend(text.bytes().filter(|byte| !byte.is_ascii_whitespace()));
            }
            BlockKind::Call { id, name } => {
                let name = name.map(|name| name.decode(message)).unwrap_or_default();
                if OwnTool::named(&name).is_some() {
                    continue;
                }
                let id = id.map_or(name, |id| id.decode(message));
                // Some clients drop the punctuation of ids, so only letters and digits are compared.
                said.calls.extend(id.bytes().filter(u8::is_ascii_alphanumeric));
                said.calls.push(b' ');
            }
            _ => {}
        }
    }
    if said.is_empty() { ShownMessage::Silent } else { ShownMessage::Said(said) }
}

/// Reduces the replies of one answer to what a client keeps: one message, or for Responses one for each item.
pub(crate) fn answered<'a>(
    kind: DialectKind,
    replies: impl IntoIterator<Item = &'a Bytes>,
) -> Vec<ShownReply> {
    let said = replies.into_iter().filter_map(|reply| match shown(kind, reply) {
        ShownMessage::Said(said) => Some(said),
        ShownMessage::Others | ShownMessage::Silent => None,
    });
    if kind == DialectKind::OpenAiResponses {
        return said.collect();
    }
    let all = said.reduce(|mut all, next| {
        all.words.extend(next.words);
        all.calls.extend(next.calls);
        all
    });
    all.into_iter().collect()
}

/// The start of the chain of a client's messages.
pub(super) fn root(kind: DialectKind, scope: &str) -> Hash {
    Hash::ROOT.chain(scope.as_bytes()).chain(kind.name().as_bytes())
}

/// The chain of what a client keeps of these messages.
pub(crate) fn chain(
    kind: DialectKind,
    scope: &str,
    messages: impl IntoIterator<Item = Bytes>,
) -> Hash {
    messages.into_iter().fold(root(kind, scope), |link, message| match shown(kind, &message) {
        ShownMessage::Said(said) => said.behind(link),
        ShownMessage::Others | ShownMessage::Silent => link,
    })
}
